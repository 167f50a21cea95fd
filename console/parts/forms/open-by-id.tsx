import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useConsole } from "../../state/context.ts";
import { TextField } from "./field.tsx";

type Props = { page: "users" | "conversations"; label: string; children?: ComponentChildren };

/** Opens the page of a user or a conversation whose id is known. `children` stand beside that. */
export function OpenById({ page, label, children }: Props) {
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
      <TextField label={label} value={id} onChange={setId} isId required />
      <button type="submit">Open</button>
      {children}
    </form>
  );
}
