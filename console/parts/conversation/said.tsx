import { useEffect, useRef, useState } from "preact/hooks";
import type { DirectoryEntry, ListedMessage } from "../../../sdk/types.ts";
import { useConsole } from "../../state/context.ts";
import { Badge } from "../badge.tsx";
import { Manner } from "../manner.tsx";
import { MessageLink } from "../message-link.tsx";
import { DeliveryReport } from "../reports/delivery-report.tsx";
import { Time } from "../time.tsx";
import { AttachedFiles } from "./attached-files.tsx";
import { EditMessage } from "./edit-message.tsx";
import { RecallMessage } from "./recall-message.tsx";

type Props = {
  message: ListedMessage;
  participants: readonly DirectoryEntry[];
  /** Called when the reader asks to change the message. */
  onAsk: () => void;
  /** Called when this page has changed the message. */
  onChange: () => void;
};

/** A message of a conversation, what the key may do about it, and who has it. */
export function Said({ message, participants, onAsk, onChange }: Props) {
  const { from, body, attachments, x, created_at, edited_at, open, reactions, _id } = message;
  const { can, me } = useConsole();
  const [isOpen, setIsOpen] = useState(false);
  const [asks, setAsks] = useState<"edit" | "recall">();
  const hasParameters = Object.keys(x).length > 0;
  const mayEdit = can("message:edit") && (me.allowed_senders === null || me.allowed_senders.includes(from));
  const ask = (what: "edit" | "recall") => {
    onAsk();
    setAsks(what);
  };
  const close = () => setAsks(undefined);
  const what = body === "" ? (attachments[0]?.file_name ?? "") : body.slice(0, 40);
  return (
    <article class="said" aria-busy={open}>
      <div class="said-head">
        <span>
          <strong>{from}</strong>{" "}
          <span class="fine">
            <MessageLink kind="message" id={_id}>
              <Time at={created_at} />
            </MessageLink>
            {edited_at !== undefined && (
              <>
                {" · edited "}
                <Time at={edited_at} />
              </>
            )}
            <Manner of={message} />
          </span>
        </span>
        {open && <Badge tone="ok">being written</Badge>}
        <span class="spacer" />
        {can("message:edit") && (
          <span class="together">
            {mayEdit && !open && (
              <button type="button" class="small" aria-label={`Edit “${what}”`} onClick={() => ask("edit")}>
                Edit
              </button>
            )}
            <button type="button" class="small" aria-label={`Take back “${what}”`} onClick={() => ask("recall")}>
              Take back
            </button>
          </span>
        )}
      </div>
      {body !== "" && <p class="said-body">{body}</p>}
      {reactions !== undefined && <Reactions total={reactions.total} />}
      {attachments.length > 0 && <AttachedFiles attachments={attachments} />}
      {hasParameters && <pre class="code">{JSON.stringify(x, undefined, 2)}</pre>}
      <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
        <summary>Who has it</summary>
        {isOpen && <DeliveryReport key={open} sent={{ kind: "message", id: _id }} names={participants} />}
      </details>
      {asks === "edit" && <EditMessage message={message} onEdited={onChange} onClose={close} />}
      {asks === "recall" && (
        <RecallMessage
          message={message}
          suggestions={participants.map(({ id }) => id)}
          onRecalled={onChange}
          onClose={close}
        />
      )}
    </article>
  );
}

/** How many users have reacted to a message, by reaction. */
function Reactions({ total }: { total: Record<string, number> }) {
  return (
    <p class="fine">
      {Object.entries(total)
        .map(([reaction, count]) => `${reaction} ${count}`)
        .join(" · ")}
    </p>
  );
}

/** The place of a message that was taken back while the page was open. Catches the focus that stood in the message, if asked. */
export function Gone({ by, catchesFocus }: { by: string; catchesFocus: boolean }) {
  const line = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (catchesFocus && document.activeElement === document.body) line.current?.focus();
  }, []);
  return (
    <p class="fine" ref={line} tabIndex={-1}>
      <strong>{by}</strong> has taken back this message.
    </p>
  );
}
