import type { Order, Version } from "./caller.ts";
import type { ScheduleClimate } from "./climate.ts";

/** An event of the log, and when it was committed. */
export type SentEvent = { id: string; org: string; kind: string; payload: string; at: number };

/** A scheduled send as it is stored in the end. */
export type StoredOrder = { org: string; id: string; state: string; request: string | null; server_mid: string | null };

type Account = { climate: ScheduleClimate; orders: Order[]; sent: SentEvent[]; rows: StoredOrder[] };

/** Promised: sent within this time, while a node and the database are up. */
const promptMs = 1_000;

/** Describes all broken promises; empty if all were kept. */
export function* judgeSchedule({ climate, orders, sent, rows }: Account): Iterable<string> {
  for (const order of orders) {
    const events = sent.filter(({ org, payload }) => org === order.org && payload.includes(`${order.id} version `));
    const row = rows.find(({ org, id }) => org === order.org && id === order.id);
    yield* judgeOrder(order, events, row);
    for (const event of events) yield* judgeTime(order, event, climate);
  }
}

/** Sent once, or cancelled, or replaced; and the row says which. */
function* judgeOrder({ id, versions, cancellation }: Order, events: SentEvent[], row: StoredOrder | undefined) {
  const [event] = events;
  const mayBeCancelled = cancellation !== undefined;
  if (events.length > 1) yield `${id} is sent ${events.length} times`;
  if (event !== undefined && cancellation?.outcome === "done") yield `${id} is cancelled, and sent at ${event.at}`;
  if (event === undefined && !mayBeCancelled && versions.some(({ outcome }) => outcome === "done"))
    yield `${id} is never sent`;
  if (event === undefined && [cancellation, ...versions].some((call) => call?.outcome === "over"))
    yield `${id} was said to be over, and is not sent`;
  const replacedBy = versions.slice(versions.findIndex((one) => isOf(one, event)) + 1);
  if (event !== undefined && replacedBy.some(({ outcome }) => outcome === "done"))
    yield `${id} is sent as it was before it was replaced`;
  if (row === undefined) {
    if (versions.some(({ outcome }) => outcome !== "unknown")) yield `${id} is lost`;
    return;
  }
  const state = event === undefined ? "cancelled" : "sent";
  if (row.state !== state) yield `${id} is stored as ${row.state}, not ${state}`;
  if (row.server_mid !== (event?.id ?? null)) yield `${id} leads to ${row.server_mid}, not ${event?.id}`;
  if (row.request !== null) yield `${id} is over, and its content is kept`;
}

/** Not before its time, and soon after it. */
function* judgeTime({ id, versions }: Order, event: SentEvent, climate: ScheduleClimate): Iterable<string> {
  const version = versions.find((one) => isOf(one, event));
  if (version === undefined) return yield `${id} is sent with a text that nobody wrote`;
  const { sendAt, at } = version;
  if (event.at < sendAt) yield `${id} is sent at ${event.at}, and is due at ${sendAt}`;
  const isLate = event.at > Math.max(sendAt, at) + promptMs + busyMs(climate);
  if (climate.isCalm && isLate) yield `${id} is sent as late as ${event.at}, and is due at ${sendAt}, known at ${at}`;
}

/** How long a node is busy with what is due at once: commits of all organizations, one after the other. */
function busyMs({ latencyMs, commitMs, orders }: ScheduleClimate): number {
  return (latencyMs * 4 + commitMs) * Math.min(orders, 20);
}

function isOf({ text }: Version, event: SentEvent | undefined): boolean {
  return event?.payload.includes(text) === true;
}
