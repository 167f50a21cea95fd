import { useEffect, useRef } from "preact/hooks";
import { useConsole } from "../../state/context.ts";
import type { Heard } from "../../state/heard.ts";
import { MessageLink } from "../message-link.tsx";
import { DeliveryReport } from "./delivery-report.tsx";

const titles = {
  message: "Message",
  system_message: "System message",
  message_edit: "Message edited",
  message_append: "Message goes on",
  message_reactions_update: "Reaction",
  message_delete: "Messages taken back",
  system_message_delete: "System messages taken back",
  message_read: "Messages read",
  system_message_read: "System messages read",
} as const;

const mostLinked = 10;

/** Leads to the pages of the messages that an event is about, if they are few. */
function About({ heard }: { heard: Heard }) {
  const { can } = useConsole();
  const { message } = heard;
  const isOfSystem = heard.kind.startsWith("system_message");
  const ids =
    "_id" in message ? [message._id] : "mid" in message ? [message.mid] : "id" in message ? [message.id] : message.ids;
  const from = "from" in message ? message.from : undefined;
  if (!can("history:read") || ids.length > mostLinked) return null;
  return (
    <>
      {ids.map((id) => (
        <p key={id}>
          <MessageLink kind={isOfSystem ? "system_message" : "message"} id={id} from={from}>
            What happened to {ids.length === 1 ? "it" : <code>{id}</code>}
          </MessageLink>
        </p>
      ))}
    </>
  );
}

/** One complete event, and who received it. */
export function HeardDetail({ heard, onClose }: { heard: Heard; onClose: () => void }) {
  const { link } = useConsole();
  const { kind, message } = heard;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section class="card stack detail" aria-label="The chosen event">
      <div class="detail-head">
        <h2 tabIndex={-1} ref={heading}>
          {titles[kind]}
        </h2>
        <button type="button" class="small" onClick={onClose}>
          Close
        </button>
      </div>
      <pre class="code">{JSON.stringify({ [kind]: message }, undefined, 2)}</pre>
      {heard.kind === "message" && (
        <DeliveryReport key={heard.message.open} sent={{ kind: "message", id: heard.message._id }} />
      )}
      {heard.kind === "system_message" && (
        <DeliveryReport sent={{ kind: "system_message", id: heard.message._id, senderId: heard.message.from }} />
      )}
      <About heard={heard} />
      {"cid" in message && message.cid !== undefined && (
        <p>
          <a href={link("conversations", message.cid)}>Conversation {message.cid}</a>
        </p>
      )}
    </section>
  );
}
