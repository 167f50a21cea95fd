import { useEffect, useMemo, useState } from "preact/hooks";
import { HeraldApiError } from "../../sdk/errors.ts";
import { createUuid } from "../../sdk/uuid.ts";
import { ComposeForm } from "../parts/forms/compose-form.tsx";
import { type DryRun, DryRunResult, type Sent, SentResult } from "../parts/forms/compose-result.tsx";
import { Problem } from "../parts/problem.tsx";
import { readObject } from "../state/composing/check-json.ts";
import { checkSend } from "../state/composing/check-send.ts";
import { type Draft, type Kind, linesOf, requestOf, sortMistakes } from "../state/composing/draft.ts";
import { useConsole, useOrganization } from "../state/context.ts";
import { useAction, useLoading } from "../state/loading.ts";

const paths = { message: "/admin/message", system_message: "/admin/message/system" } as const;

/** Sends a message or a system message, and shows who received it. */
export function Compose() {
  const { can, client, route, me } = useConsole();
  const org = useOrganization();
  const kinds: Kind[] = [
    ...(can("message:send") ? (["message"] as const) : []),
    ...(can("system:send") ? (["system_message"] as const) : []),
  ];
  const [draft, setDraft] = useState<Draft>(() => ({
    kind: kinds.find((kind) => kind === route.query.kind) ?? kinds[0] ?? "message",
    senderId: route.query.from ?? me.allowed_senders?.[0] ?? "",
    cid: route.query.cid ?? "",
    body: "",
    uids: route.query.uid ?? "",
    x: "",
    id: "",
    attachments: [],
  }));
  // The id of the next send. It stays the same after an unknown outcome, so that a retry sends nothing twice.
  const [ownId, setOwnId] = useState(createUuid);
  const [wasTried, setWasTried] = useState(false);
  const [dryRun, setDryRun] = useState<DryRun>();
  const [sent, setSent] = useState<Sent>();
  const suggestions = useSuggestions(org, draft.kind === "message" ? draft.cid : "");

  const x = useMemo(() => readObject(draft.x), [draft.x]);
  const request = requestOf(draft, org, draft.id === "" ? ownId : draft.id, "value" in x ? x.value : {});
  const mistakes = [
    ...checkSend(draft.kind, request),
    ...("fault" in x ? [{ pointer: "/x", detail: x.fault.detail }] : []),
  ];

  const send = async (body: unknown): Promise<{ ask?: Sent["answer"]; ack?: Sent["answer"] }> => {
    try {
      return await client.request("POST", paths[draft.kind], body, { isSafe: true });
    } catch (error) {
      // This id is stored with a different payload, so the form now contains another send.
      if (error instanceof HeraldApiError && error.code === "message_id_conflict") setOwnId(createUuid());
      throw error;
    }
  };
  const post = async (isDryRun: boolean) => {
    setWasTried(true);
    setDryRun(undefined);
    if (mistakes.length > 0) return focusFirstMistake();
    if (isDryRun) {
      const answer = await client.request<{ dry_run: DryRun }>("POST", `${paths[draft.kind]}?dry_run=true`, request, {
        isSafe: true,
      });
      return setDryRun(answer.dry_run);
    }
    const answer = await send(request);
    const accepted = answer.ask ?? answer.ack;
    if (accepted === undefined) throw new Error("The response did not come from Herald. Check the address.");
    setSent({ kind: draft.kind, senderId: draft.senderId, answer: accepted, sentAt: new Date().toISOString() });
    setOwnId(createUuid());
    setWasTried(false);
    setDraft((before) => ({ ...before, body: "", attachments: [], id: "" }));
  };
  const action = useAction(post);
  const refused = action.error instanceof HeraldApiError ? action.error.errors : [];
  const { fields, rest } = sortMistakes(
    wasTried ? [...mistakes, ...refused] : mistakes.filter(({ pointer }) => pointer === "/x"),
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
        onSend={() => action.run(false)}
        request={request}
      />
      <div class="results">
        {rest.length > 0 && (
          <div class="notice bad" role="alert">
            {rest.map((line) => (
              <p key={line}>{line}</p>
            ))}
          </div>
        )}
        {action.error !== undefined && <Problem error={action.error} />}
        {action.error !== undefined && isUnknown(action.error) && (
          <p class="fine">
            The outcome is unknown. Press Send again: the retry has the same id, so nothing is stored twice.
          </p>
        )}
        {dryRun !== undefined && (
          <DryRunResult dryRun={dryRun} addressed={linesOf(draft.uids).length} kind={draft.kind} />
        )}
        {sent !== undefined && (
          <SentResult key={sent.answer.server_mid ?? `${sent.answer.mid} ${sent.sentAt}`} sent={sent} />
        )}
        {dryRun === undefined && sent === undefined && action.error === undefined && (
          <p class="hint">
            The response and the delivery report appear here. A dry run checks the request without storing or sending
            anything.
          </p>
        )}
      </div>
    </div>
  );
}

function isUnknown(error: unknown): boolean {
  return error instanceof HeraldApiError && (error.status === 0 || error.status >= 500);
}

/** Focuses the first invalid field, once the page shows the errors. */
function focusFirstMistake(): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>("form [aria-invalid]")?.focus());
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
