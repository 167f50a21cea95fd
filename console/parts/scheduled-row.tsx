import type { ScheduledSend } from "../../sdk/types.ts";
import { useConsole } from "../state/context.ts";
import { Badge } from "./badge.tsx";
import { Manner } from "./manner.tsx";
import { MessageLink } from "./message-link.tsx";
import { Prose } from "./prose.tsx";
import { addresseeOf, textOf } from "./requests.ts";
import { Time } from "./time.tsx";

const tones = { waiting: "accent", sent: "ok", failed: "bad", cancelled: "plain" } as const;

/** A scheduled send: what waits and for when, or what became of it. */
export function ScheduledRow({ scheduled, onCancel }: { scheduled: ScheduledSend; onCancel: () => void }) {
  const { can, me } = useConsole();
  const { id, send_at, state, request, sent_at, server_mid, problem } = scheduled;
  const scope = request !== null && "message" in request ? "message:send" : "system:send";
  const mayCancel =
    request !== null && can(scope) && (me.allowed_senders === null || me.allowed_senders.includes(request.senderId));
  return (
    <article class="entry">
      <div class="entry-head">
        <strong>
          <Time at={send_at} />
        </strong>
        <Badge tone={tones[state]}>{state}</Badge>
        {request !== null && "messageSystem" in request && <Badge tone="system">system</Badge>}
        {request !== null && (
          <span>
            {request.senderId} → {addresseeOf(request)}
          </span>
        )}
        <span class="spacer" />
        {state === "waiting" && mayCancel && (
          <button type="button" class="small" aria-label={`Cancel ${id}`} onClick={onCancel}>
            Cancel
          </button>
        )}
      </div>
      {request !== null && <p class="said-body">{textOf(request)}</p>}
      {problem !== null && (
        <p class="field-error">
          <Prose text={problem.detail} />
        </p>
      )}
      <p class="fine">
        <code>{id}</code>
        {request !== null && <Manner of={"message" in request ? request.message : request.messageSystem} />}
        {sent_at !== null && (
          <>
            {" · sent "}
            <Time at={sent_at} isExact />
            {" as "}
            {server_mid !== null && <MessageLink kind="either" id={server_mid} />}
          </>
        )}
      </p>
    </article>
  );
}
