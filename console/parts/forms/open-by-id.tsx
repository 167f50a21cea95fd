import { useState } from "preact/hooks";
import { useConsole } from "../../state/context.ts";
import { TextField } from "./field.tsx";

/** Opens the page of a user or a conversation whose id is known. */
export function OpenById({ page, label }: { page: "users" | "conversations"; label: string }) {
  const { link } = useConsole();
  const [id, setId] = useState("");
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        if (id !== "") location.hash = link(page, id);
      }}
    >
      <TextField label={label} value={id} onChange={setId} isId />
      <button type="submit">Open</button>
    </form>
  );
}
