import type { FeedEvent } from "../../../sdk/admin/feed.ts";
import type { AuditEntry, Recipient } from "../../../sdk/types.ts";
import type { WebhookDelivery } from "../../../sdk/webhook-types.ts";
import { foldSteps } from "./folding.ts";
import { type Step, stepKinds } from "./step.ts";

/** An event of the log, with its place there. */
export type Logged = { cursor: string; at: string; event: FeedEvent };

/** A delivery of a webhook. */
export type Posted = { webhook: string; delivery: WebhookDelivery };

/** What is known of a message or system message, by where it is from. */
export type Known = {
  id: string;
  report: {
    sentAt: string;
    from: string;
    keyId: string | null;
    editedAt: string | undefined;
    recalledAt: string | undefined;
    expiredAt: string | undefined;
    deliveredUsers: number;
    firstDeliveredAt: string | null;
    lastDeliveredAt: string | null;
  };
  /** All recipients; `undefined` if they are not known one by one. */
  recipients: readonly Recipient[] | undefined;
  log: readonly Logged[];
  audit: readonly AuditEntry[];
  posted: readonly Posted[];
};

/** What happened to a message, in the order of time. What several sources tell is there once. */
export function toTimeline(known: Known): Step[] {
  const changes = withKeys(changesIn(known), known);
  const steps = [sentStep(known), ...deliverySteps(known), ...changes.steps, ...postSteps(known), ...changes.others];
  return foldSteps(steps.sort(inTime));
}

function step(kind: Step["kind"], at: string, more: Partial<Step> = {}): Step {
  return { kind, at, count: 1, uids: [], keys: [], details: [], ...more };
}

function inTime(left: Step, right: Step): number {
  const order = (one: Step) => stepKinds.indexOf(one.kind);
  return Date.parse(left.at) - Date.parse(right.at) || order(left) - order(right);
}

function sentStep({ id, report, log }: Known): Step {
  const { sentAt, from, keyId } = report;
  const stored = log.find(({ event }) => isSend(event, id));
  const offset = stored?.cursor.split("-", 1)[0];
  const details = offset === undefined ? [] : [`stored in the log at offset ${offset}`];
  return step("sent", stored?.at ?? sentAt, { uids: [from], keys: [keyId], details });
}

function isSend(event: FeedEvent, id: string): boolean {
  return (
    ("message" in event && event.message._id === id) || ("system_message" in event && event.system_message._id === id)
  );
}

function deliverySteps({ report, recipients }: Known): Step[] {
  const { deliveredUsers: count, firstDeliveredAt: first, lastDeliveredAt: last } = report;
  if (recipients === undefined)
    return first === null
      ? []
      : [step("delivered", first, { count, ...(last !== null && last !== first && { until: last }) })];
  return recipients.flatMap(({ uid, delivered_at, acknowledged_at }) => [
    ...(delivered_at === null ? [] : [step("delivered", delivered_at, { uids: [uid] })]),
    ...(acknowledged_at === null ? [] : [step("acknowledged", acknowledged_at, { uids: [uid] })]),
  ]);
}

/** What changed the message, by the log; and by the report, what the log does not tell. */
function changesIn({ id, report, log }: Known): Step[] {
  const { editedAt, recalledAt, expiredAt } = report;
  const told = log.flatMap((entry) => changeOf(entry, id));
  // The log tells an expiry as it tells a recall.
  const steps = expiredAt === undefined ? told : told.filter(({ kind }) => kind !== "recalled");
  const missing = (kind: Step["kind"], at: string | undefined) =>
    at === undefined || steps.some((one) => one.kind === kind && isNear(one.at, at)) ? [] : [step(kind, at)];
  return [
    ...steps,
    ...missing("edited", editedAt),
    ...missing("recalled", recalledAt),
    ...missing("expired", expiredAt),
  ];
}

function changeOf({ at, event }: Logged, id: string): Step[] {
  if ("message_edit" in event) return event.message_edit.id === id ? [step("edited", at, by(event.message_edit))] : [];
  if ("message_append" in event)
    return event.message_append.id === id ? [step("grown", at, by(event.message_append))] : [];
  if ("message_delete" in event)
    return event.message_delete.ids.includes(id) ? [step("recalled", at, by(event.message_delete))] : [];
  if ("system_message_delete" in event)
    return event.system_message_delete.ids.includes(id) ? [step("recalled", at, by(event.system_message_delete))] : [];
  if ("message_read" in event)
    return event.message_read.ids.includes(id) ? [step("read", at, by(event.message_read))] : [];
  if ("system_message_read" in event) {
    const { ids, seen } = event.system_message_read;
    return ids.includes(id) ? [step(seen ? "seen" : "read", at)] : [];
  }
  if ("message_reactions_update" in event) {
    const { mid, add, remove } = event.message_reactions_update;
    const details = [add && `+ ${add}`, remove && `− ${remove}`].filter((one) => one !== undefined && one !== "");
    return mid === id
      ? [step("reaction", at, { ...by(event.message_reactions_update), details: [details.join(" ")] })]
      : [];
  }
  return [];
}

function by({ from }: { from: string }): Pick<Step, "uids"> {
  return { uids: [from] };
}

const changedBy: Partial<Record<string, Step["kind"]>> = {
  editMessage: "edited",
  recallMessages: "recalled",
  recallSystemMessages: "recalled",
};

/** Gives each change the key of its call, which only the audit log knows, and returns the audit log's other entries as steps. */
function withKeys(changes: readonly Step[], { audit }: Known): { steps: Step[]; others: Step[] } {
  const steps = [...changes];
  const others: Step[] = [];
  for (const entry of audit) {
    const { operation, result, key_id, created_at, target } = entry;
    const kind = result === "done" && target.user === undefined ? changedBy[operation] : undefined;
    const place = steps.findIndex((one) => one.kind === kind && one.keys.length === 0 && isNear(one.at, created_at));
    const change = steps[place];
    if (change === undefined) others.push(auditStep(entry));
    else {
      const uids = change.uids.length === 0 && target.sender !== undefined ? [target.sender] : change.uids;
      steps[place] = { ...change, uids, keys: [key_id] };
    }
  }
  return { steps, others };
}

const nearMs = 2_000;

/** Whether two sources may tell the same thing: an entry of the audit log is written when the call ends. */
function isNear(left: string, right: string): boolean {
  return Math.abs(Date.parse(left) - Date.parse(right)) <= nearMs;
}

function auditStep({ created_at, operation, key_id, result, code }: AuditEntry): Step {
  const outcome = result === "done" ? "" : `: ${result}${code === null ? "" : `, ${code}`}`;
  return step("audit", created_at, { keys: [key_id], details: [`${operation}${outcome}`], isBad: result !== "done" });
}

function postSteps({ posted }: Known): Step[] {
  return posted.flatMap(({ webhook, delivery }) => {
    const { created_at, request, tries, last_try, next_try_at, state } = delivery;
    const made = step("hook", created_at, { webhook, details: [String(request?.type ?? "")] });
    if (last_try === null) return [next_try_at === null ? made : { ...made, nextAt: next_try_at }];
    const { at, status, error, duration_ms } = last_try;
    const answer = `try ${tries}, ${state}: ${error ?? `the receiver answered ${status}`}, in ${duration_ms} ms`;
    const isBad = error !== null;
    const tried = step("try", at, { webhook, details: [answer], isBad });
    return [made, next_try_at === null ? tried : { ...tried, nextAt: next_try_at }];
  });
}
