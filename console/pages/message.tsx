import { useState } from "preact/hooks";
import { TextField } from "../parts/forms/field.tsx";
import { Story } from "../parts/story/story.tsx";
import { useConsole } from "../state/context.ts";

/** One message, by its `server_mid`; or a system message, where a link does not say which of both it is. */
export function Message() {
  const { id = "" } = useConsole().route;
  return (
    <Story sent={{ kind: "message", id }} otherwise={(status) => (status === 404 ? <OfSystem id={id} /> : undefined)} />
  );
}

/** One system message, by its id and, as others may have used the same id, its sender. */
export function SystemMessage() {
  const { id = "", query } = useConsole().route;
  return <OfSystem key={query.from} id={id} from={query.from} />;
}

function OfSystem({ id, from }: { id: string; from?: string | undefined }) {
  const sent = { kind: "system_message", id, ...(from !== undefined && { senderId: from }) } as const;
  return <Story sent={sent} otherwise={(status) => (status === 422 ? <Sender id={id} /> : undefined)} />;
}

function Sender({ id }: { id: string }) {
  const { link } = useConsole();
  const [from, setFrom] = useState("");
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        if (from !== "") location.hash = link("system-messages", id, { from });
      }}
    >
      <TextField label="The one of this sender" value={from} onChange={setFrom} isId required />
      <button type="submit">Open</button>
    </form>
  );
}

/** Asks for the id of a message. */
export function FindMessage() {
  const { link, route } = useConsole();
  const [id, setId] = useState("");
  const label = route.page === "messages" ? "Message (server_mid)" : "System message (mid)";
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        if (id !== "") location.hash = link(route.page, id);
      }}
    >
      <TextField label={label} value={id} onChange={setId} isId required />
      <button type="submit">Open</button>
    </form>
  );
}
