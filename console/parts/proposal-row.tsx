import type { Proposal } from "../../sdk/types.ts";
import { useConsole } from "../state/context.ts";
import { useLoading } from "../state/loading.ts";
import { Badge } from "./badge.tsx";
import { Manner } from "./manner.tsx";
import { MessageLink } from "./message-link.tsx";
import { explain } from "./problem.tsx";
import { Prose } from "./prose.tsx";
import { addresseeOf, textOf, type WaitingRequest } from "./requests.ts";
import { Time } from "./time.tsx";

const tones = { waiting: "accent", approved: "ok", rejected: "plain", failed: "bad", expired: "plain" } as const;
const mostCharacters = 20_000;

type RowProps = {
  proposal: Proposal;
  keyNames: ReadonlyMap<string, string>;
  isBusy: boolean;
  onApprove: () => void;
  onReject: () => void;
};

/** A proposal: what would be sent, to whom, who proposed it and why, with the buttons that decide it; or what became of it. */
export function ProposalRow({ proposal, keyNames, isBusy, onApprove, onReject }: RowProps) {
  const { state, request, reason, decision_reason, problem } = proposal;
  const isWaiting = state === "waiting";
  return (
    <article class="entry">
      <div class="entry-head">
        {request !== null && (
          <strong>
            {request.senderId} → {addresseeOf(request)}
          </strong>
        )}
        {!isWaiting && <Badge tone={tones[state]}>{state}</Badge>}
        {request !== null && "messageSystem" in request && <Badge tone="system">system</Badge>}
        {isWaiting && request !== null && <Reach request={request} />}
        <span class="spacer" />
        {isWaiting && request !== null && (
          <Deciding proposal={proposal} request={request} isBusy={isBusy} onApprove={onApprove} onReject={onReject} />
        )}
      </div>
      {request !== null && <p class="said-body">{textOf(request, mostCharacters)}</p>}
      {request !== null && "message" in request && <More message={request.message} />}
      {reason !== null && <p class="reason">{reason}</p>}
      {problem !== null && (
        <p class="field-error">
          <Prose text={problem.detail} />
        </p>
      )}
      {decision_reason !== null && <p>Decided so because: {decision_reason}</p>}
      <Origin proposal={proposal} keyNames={keyNames} />
    </article>
  );
}

/** What a message has besides its text. */
function More({ message: { x, attachments = [], body = "" } }: { message: Message }) {
  const names = body === "" ? [] : attachments.map(({ name }) => name);
  const hasParameters = x !== undefined && Object.keys(x).length > 0;
  if (names.length === 0 && !hasParameters) return null;
  return (
    <p class="fine">
      {names.length > 0 && `with ${names.join(", ")} `}
      {hasParameters && <code>{JSON.stringify(x).slice(0, mostCharacters)}</code>}
    </p>
  );
}

type Message = Extract<WaitingRequest, { message: unknown }>["message"];

/** Whom it would reach now, or why it would be refused. */
function Reach({ request }: { request: WaitingRequest }) {
  const { client, can } = useConsole();
  const mayAsk = can("message" in request ? "message:send" : "system:send");
  const dryRun = useLoading(async () => {
    if (!mayAsk) return undefined;
    const tried = "message" in request ? client.tryMessage(request) : client.trySystemMessage(request);
    return (await tried).dry_run;
  }, [JSON.stringify(request)]);
  if (dryRun.error !== undefined) return <Badge tone="bad">{explain(dryRun.error).title}</Badge>;
  if (!mayAsk) return null;
  const { recipients, online } = dryRun.value ?? { recipients: 10, online: 10 }; // as wide as most, until it is known
  return (
    <span class={dryRun.value === undefined ? "to-come" : ""}>
      {recipients === 1 ? "1 user" : `${recipients} users`}, {online} online now
    </span>
  );
}

type DecidingProps = Omit<RowProps, "keyNames"> & { request: WaitingRequest };

/** The buttons that decide it; with one of them in focus, A approves and R rejects. */
function Deciding({ proposal, request, isBusy, onApprove, onReject }: DecidingProps) {
  const { can, me } = useConsole();
  const { id, proposed_by } = proposal;
  const isOwn = me.key_id === proposed_by;
  const isSender = me.allowed_senders === null || me.allowed_senders.includes(request.senderId);
  if (isOwn)
    return (
      <span class="fine">
        {me.session_id === null
          ? "Your key proposed it, so another one decides."
          : "You proposed it, so somebody else decides."}
      </span>
    );
  if (!isSender || !can("message" in request ? "message:send" : "system:send")) return null;
  const decide = (event: KeyboardEvent) => {
    const key = event.key.toLowerCase();
    const isDecision = key === "a" || key === "r";
    // A key that is held down decides nothing: the next proposal has the focus by then.
    if (event.repeat && (isDecision || key === "enter" || key === " ")) return event.preventDefault();
    if (!isDecision || event.ctrlKey || event.metaKey || event.altKey || isBusy) return;
    event.preventDefault(); // the letter would go into the dialog
    if (key === "a") onApprove();
    else onReject();
  };
  return (
    <span class="together">
      <button
        type="button"
        class="small primary"
        data-approves
        aria-label={`Approve ${id}`}
        aria-keyshortcuts="a"
        aria-disabled={isBusy}
        onKeyDown={decide}
        onClick={() => !isBusy && onApprove()}
      >
        Approve
      </button>
      <button
        type="button"
        class="small"
        aria-label={`Reject ${id}`}
        aria-keyshortcuts="r"
        aria-disabled={isBusy}
        onKeyDown={decide}
        onClick={() => !isBusy && onReject()}
      >
        Reject
      </button>
    </span>
  );
}

/** Which proposal it is, by which key and until when, and who has decided it. */
function Origin({ proposal, keyNames }: Pick<RowProps, "proposal" | "keyNames">) {
  const { id, state, request, proposed_by, created_at, expires_at, decided_by, decided_at, server_mid } = proposal;
  return (
    <p class="fine">
      <code>{id}</code>
      {" · proposed "}
      <Time at={created_at} />
      {" by "}
      <KeyName id={proposed_by} keyNames={keyNames} />
      {state === "waiting" && (
        <>
          {" · until "}
          <Time at={expires_at} />
        </>
      )}
      {request !== null && <Manner of={"message" in request ? request.message : request.messageSystem} />}
      {decided_by !== null && decided_at !== null && (
        <>
          {` · ${state === "rejected" ? "rejected" : "approved"} `}
          <Time at={decided_at} />
          {" by "}
          <KeyName id={decided_by} keyNames={keyNames} />
        </>
      )}
      {server_mid !== null && (
        <>
          {" · sent as "}
          <MessageLink kind="either" id={server_mid} />
        </>
      )}
    </p>
  );
}

/** The name of a key, if the own one may read it; otherwise its id. */
function KeyName({ id, keyNames }: { id: string } & Pick<RowProps, "keyNames">) {
  const name = keyNames.get(id);
  return name === undefined ? <code>{id}</code> : <span title={`API key ${id}`}>{name}</span>;
}
