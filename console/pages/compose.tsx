import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { HeraldApiError } from "../../sdk/errors.ts";
import { createUuid } from "../../sdk/uuid.ts";
import { ComposeForm } from "../parts/forms/compose-form.tsx";
import { AcceptedResult, DryRunResult } from "../parts/forms/compose-result.tsx";
import { Confirm } from "../parts/forms/dialog.tsx";
import { focusFirstMistake } from "../parts/forms/focus-first-mistake.ts";
import { proposedInMinutes } from "../parts/forms/send-time.tsx";
import { Problem } from "../parts/problem.tsx";
import { Prose } from "../parts/prose.tsx";
import { readObject } from "../state/composing/check-json.ts";
import { checkSend } from "../state/composing/check-send.ts";
import {
  blank,
  type Draft,
  type Kind,
  linesOf,
  localNow,
  neededOf,
  requestOf,
  sortMistakes,
  timeMistakes,
  timeOf,
  uploadMistakes,
} from "../state/composing/draft.ts";
import { type Accepted, callOf, type DryRun, submit, tryOut } from "../state/composing/submission.ts";
import { useUploads } from "../state/composing/uploads.ts";
import { useConsole, useOrganization } from "../state/context.ts";
import { useAction, useLoading } from "../state/loading.ts";
import type { Route } from "../state/route.ts";

const takenCodes = ["message_id_conflict", "already_sent"];

/** Sends a message or a system message, now or later, and shows who received it. */
export function Compose() {
  const { can, client, route, me } = useConsole();
  const org = useOrganization();
  const kinds: Kind[] = [
    ...(can("message:send") ? (["message"] as const) : []),
    ...(can("system:send") ? (["system_message"] as const) : []),
  ];
  const addressed = addressOf(route.query, kinds, me.allowed_senders?.[0]);
  const [draft, setDraft] = useState<Draft>({ x: "", sendAt: undefined, ...blank, ...addressed });
  // The id of the next send. It stays the same after an unknown outcome, so that a retry sends nothing twice.
  const [ownId, setOwnId] = useState(createUuid);
  const [wasTried, setWasTried] = useState(false);
  const [dryRun, setDryRun] = useState<DryRun>();
  const [accepted, setAccepted] = useState<Accepted>();
  const [isAsking, setIsAsking] = useState(false);
  const uploads = useUploads(org, setDraft);
  const suggestions = useSuggestions(org, takesConversation(draft) ? draft.cid : "");

  const x = useMemo(() => readObject(draft.x), [draft.x]);
  const id = draft.id === "" ? ownId : draft.id;
  const sendAt = draft.sendAt === undefined ? undefined : timeOf(draft.sendAt);
  const request = requestOf(draft, org, id, "value" in x ? x.value : {});
  const mistakes = [
    ...checkSend(draft.kind, request),
    ...(draft.kind === "message" ? uploadMistakes(draft) : []),
    ...("fault" in x ? [{ pointer: "/x", detail: x.fault.detail }] : []),
    ...timeMistakes(draft),
  ];

  const submission = { org, kind: draft.kind, id, sendAt, request };
  const send = async () => {
    setAccepted(undefined);
    try {
      setAccepted(await submit(client, submission));
    } catch (error) {
      // This id is stored with a different payload, so the form now contains another send.
      if (error instanceof HeraldApiError && takenCodes.includes(error.code)) setOwnId(createUuid());
      throw error;
    }
    setOwnId(createUuid());
    setWasTried(false);
    setDraft((before) => ({ ...before, ...blank }));
  };
  const post = async (isDryRun: boolean) => {
    setWasTried(true);
    setDryRun(undefined);
    if (mistakes.length > 0) return focusFirstMistake();
    if (isDryRun) setDryRun(await tryOut(client, submission));
    else await send();
  };
  const action = useAction(post);
  useChange(JSON.stringify(addressed), () => {
    setDraft((before) => ({ ...before, ...addressed }));
    setOwnId(createUuid()); // it is another send now
    setWasTried(false);
    setDryRun(undefined);
    setAccepted(undefined);
    setIsAsking(false);
    action.clear();
  });
  const refused = action.error instanceof HeraldApiError ? action.error.errors : [];
  const { fields, rest } = sortMistakes(
    wasTried ? [...mistakes, ...refused] : mistakes.filter(({ pointer }) => pointer === "/x"),
    neededOf(draft),
  );

  return (
    <div class="two-columns">
      <ComposeForm
        kinds={kinds}
        draft={draft}
        suggestions={suggestions}
        mistakes={fields}
        xFault={"fault" in x ? x.fault : fields.x === undefined ? undefined : { detail: fields.x, index: undefined }}
        placeholderId={ownId}
        isBusy={action.isBusy}
        onChange={(change) => {
          setDraft((before) => ({ ...before, ...change }));
          setDryRun(undefined);
        }}
        onDryRun={() => action.run(true)}
        onSend={() => (isForEveryone(draft) && mistakes.length === 0 ? setIsAsking(true) : action.run(false))}
        call={callOf(submission)}
        uploads={can("files:write") ? uploads : undefined}
      />
      <div class="results">
        {rest.length > 0 && (
          <div class="notice bad" role="alert">
            {rest.map((line) => (
              <p key={line}>
                <Prose text={line} />
              </p>
            ))}
          </div>
        )}
        {action.error !== undefined && <Problem error={action.error} isToldAtFields={refused.length > 0} />}
        {action.error !== undefined && isUnknown(action.error) && (
          <p class="fine">
            The outcome is unknown. Press {sendAt === undefined ? "Send" : "Schedule"} again: the retry has the same id,
            so nothing is stored twice.
          </p>
        )}
        {dryRun !== undefined && (
          <DryRunResult
            dryRun={dryRun}
            addressed={
              draft.kind === "system_message" && draft.audience === "users" ? linesOf(draft.uids).length : undefined
            }
          />
        )}
        {accepted !== undefined && <AcceptedResult accepted={accepted} />}
        {dryRun === undefined && accepted === undefined && action.error === undefined && (
          <p class="hint">
            The response and the delivery report appear here. A dry run checks the request without storing or sending
            anything.
          </p>
        )}
      </div>
      {isAsking && (
        <Confirm
          title={`Send to everyone in ${org}?`}
          verb={draft.sendAt === undefined ? "Send to everyone" : "Schedule"}
          isBusy={false}
          onConfirm={() => {
            setIsAsking(false);
            action.run(false);
          }}
          onClose={() => setIsAsking(false)}
        >
          <p>
            {draft.keepDays === ""
              ? "All users of the organization who are online when it is sent receive it."
              : "All users of the organization receive it. Those who are offline find it in their inboxes."}{" "}
            To take it back, call <code>DELETE /admin/message/system</code>.
          </p>
        </Confirm>
      )}
    </div>
  );
}

/** What the address of the page says of a send: its kind, its sender, whom it goes to, and whether it is sent later. */
function addressOf(
  { kind, from, cid, uid, keep, when }: Route["query"],
  kinds: readonly Kind[],
  onlySender: string | undefined,
): Pick<Draft, "kind" | "senderId" | "audience" | "cid" | "uids"> & Partial<Draft> {
  return {
    kind: kinds.find((one) => one === kind) ?? kinds[0] ?? "message",
    senderId: from ?? onlySender ?? "",
    audience: cid === undefined ? "users" : "conversation",
    cid: cid ?? "",
    uids: uid ?? "",
    ...(keep !== undefined && { keepDays: keep }),
    ...(when === "later" && { sendAt: localNow(proposedInMinutes) }),
  };
}

/** Calls `act` when `value` has changed, before the page is shown with it. */
function useChange(value: string, act: () => void): void {
  const before = useRef(value);
  useLayoutEffect(() => {
    if (before.current === value) return;
    before.current = value;
    act();
  }, [value]);
}

function isForEveryone({ kind, audience }: Draft): boolean {
  return kind === "system_message" && audience === "everyone";
}

function takesConversation({ kind, audience }: Draft): boolean {
  return kind === "message" || audience === "conversation";
}

function isUnknown(error: unknown): boolean {
  return error instanceof HeraldApiError && (error.status === 0 || error.status >= 500);
}

/** Ids to choose from, if the key may read them. Other ids can be typed. */
function useSuggestions(org: string, cid: string) {
  const { client, can } = useConsole();
  const [settledCid, setSettledCid] = useState(cid);
  useEffect(() => {
    const timer = setTimeout(() => setSettledCid(cid), 300);
    return () => clearTimeout(timer);
  }, [cid]);
  const mayRead = can("directory:read");
  const ids = async (list: Promise<{ items: { id: string }[] }>) =>
    (await list.catch(() => ({ items: [] }))).items.map(({ id }) => id);
  const conversations = useLoading(
    async () => (mayRead ? await ids(client.listConversations(org, { limit: 200 })) : []),
    [org],
  );
  const users = useLoading(async () => {
    if (!mayRead) return [];
    const isKnown = settledCid !== "" && conversations.value?.includes(settledCid) === true;
    return await ids(
      isKnown ? client.listParticipants(org, settledCid, { limit: 200 }) : client.listUsers(org, { limit: 200 }),
    );
  }, [org, settledCid, conversations.value !== undefined]);
  return { conversations: conversations.value ?? [], users: users.value ?? [] };
}
