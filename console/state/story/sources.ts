import type { AdminClient } from "../../../sdk/admin/admin.ts";
import type { FeedEvent } from "../../../sdk/admin/feed.ts";
import type { AuditEntry, Recipient } from "../../../sdk/types.ts";
import type { SentId } from "../delivery.ts";
import { type ReadLog, timeOfCursor } from "./log-pages.ts";
import type { Logged, Posted } from "./timeline.ts";

/** What a look has found, and where the next one goes on; `undefined` if there is nothing more. */
export type Found<Item> = { items: Item[]; next: string | undefined };

/** Which message the story is about. */
export type About = { org: string; sent: SentId; from: string; cid: string | undefined; sentAt: string };

const pagesOfLook = 3;
const auditPage = 1_000;
const deliveriesPage = 100;
const mostRecipients = 1_000;
const clockMs = 1_000; // by which the clocks of two nodes may differ

const messageTypes = [
  "message",
  "message_edit",
  "message_append",
  "message_reactions_update",
  "message_delete",
  "message_read",
];
const systemTypes = ["system_message", "system_message_delete", "system_message_read"];

/** Looks for a message in the log, from the oldest event that is kept or from where the last look ended. */
export async function lookInLog(read: ReadLog, about: About, from: string | undefined): Promise<Found<Logged>> {
  const { org, sent, cid } = about;
  const startedAt = Date.now();
  const wish = sent.kind === "message" ? { org, types: messageTypes, cid } : { org, types: systemTypes };
  const items: Logged[] = [];
  let after = from;
  for (let pages = 0; pages < pagesOfLook; pages++) {
    const { entries, next } = await read({ ...wish, after });
    items.push(...entries.filter(({ event }) => isNamedIn(event, sent.id)));
    if (next === after || next === "" || timeOfCursor(next) >= startedAt) return { items, next: undefined };
    after = next;
  }
  return { items, next: after };
}

/** Whether an event is a message with this id, or happens to it. */
function isNamedIn(event: FeedEvent, wanted: string): boolean {
  const [told]: { _id?: string; id?: string; mid?: string; ids?: string[] }[] = Object.values(event);
  const { _id, id, mid, ids } = told ?? {};
  return [_id, id, mid].includes(wanted) || ids?.includes(wanted) === true;
}

/** Looks for entries of the audit log that name a message, the newest first. */
export async function lookInAudit(
  client: AdminClient,
  { org, sent, sentAt }: About,
  from: string | undefined,
): Promise<Found<AuditEntry>> {
  const since = new Date(Date.parse(sentAt) - clockMs).toISOString();
  const { items, next } = await lookOn(from, (at) =>
    client.listAudit({ organization: org, since, limit: auditPage, ...at }),
  );
  return { items: items.filter((entry) => names(entry, sent)), next };
}

type ReadPage<Item> = (at: { cursor?: string }) => Promise<{ items: Item[]; cursor: string | null }>;

/** Reads a few pages, until one `isLast`. */
async function lookOn<Item>(
  from: string | undefined,
  read: ReadPage<Item>,
  isLast: (page: readonly Item[]) => boolean = () => false,
): Promise<Found<Item>> {
  const items: Item[] = [];
  let cursor = from;
  for (let pages = 0; pages < pagesOfLook; pages++) {
    const page = await read(cursor === undefined ? {} : { cursor });
    items.push(...page.items);
    if (page.cursor === null || isLast(page.items)) return { items, next: undefined };
    cursor = page.cursor;
  }
  return { items, next: cursor };
}

/** Whether an entry names this message: a system message may have the id of a message. */
export function names({ operation, target }: AuditEntry, { kind, id }: SentId): boolean {
  const isOfSystem = operation.includes("System");
  return (
    isOfSystem === (kind === "system_message") && (target.message === id || target.messages?.includes(id) === true)
  );
}

/** Looks for deliveries of all webhooks that are about a message, back to when it was sent. */
export async function lookInWebhooks(
  client: AdminClient,
  about: About,
  from: string | undefined,
): Promise<Found<Posted>> {
  const { org } = about;
  const start = from === undefined ? undefined : (JSON.parse(from) as Record<string, string>);
  const ids = start === undefined ? (await client.listWebhooks(org)).items.map(({ id }) => id) : Object.keys(start);
  const looks = await Promise.all(ids.map((id) => lookInWebhook(client, about, id, start?.[id])));
  const open = looks.flatMap(({ next }, place) => (next === undefined ? [] : [[ids[place], next]]));
  return {
    items: looks.flatMap(({ items }) => items),
    next: open.length === 0 ? undefined : JSON.stringify(Object.fromEntries(open)),
  };
}

async function lookInWebhook(
  client: AdminClient,
  about: About,
  webhook: string,
  from: string | undefined,
): Promise<Found<Posted>> {
  const since = Date.parse(about.sentAt) - clockMs;
  const { items, next } = await lookOn(
    from,
    (at) => client.listWebhookDeliveries(about.org, webhook, { limit: deliveriesPage, ...at }),
    (page) => Date.parse(page.at(-1)?.created_at ?? "") < since,
  );
  const found = items.filter(({ request }) => isAbout(request, about));
  return { items: found.map((delivery) => ({ webhook, delivery })), next };
}

/** Whether what is posted to a webhook is about this message. */
export function isAbout(
  request: Record<string, unknown> | null,
  { sent, from }: Pick<About, "sent" | "from">,
): boolean {
  const data = request?.data;
  if (!isRecord(data)) return false;
  const { message, system_message, message_read, undeliverable } = data;
  if (isRecord(undeliverable)) return undeliverable.id === sent.id && undeliverable.type === `${sent.kind}.unreached`;
  if (sent.kind === "system_message")
    return isRecord(system_message) && system_message._id === sent.id && system_message.from === from;
  if (isRecord(message_read)) return Array.isArray(message_read.ids) && message_read.ids.includes(sent.id);
  return isRecord(message) && message._id === sent.id;
}

/** All recipients of a message; `undefined` if they are too many to be read. */
export async function readRecipients(client: AdminClient, { org, sent }: About): Promise<Recipient[] | undefined> {
  const { items, next } = await lookOn<Recipient>(undefined, (at) => {
    const options = { limit: mostRecipients, ...at };
    if (sent.kind === "message") return client.listRecipients(org, sent.id, options);
    const sender = sent.senderId === undefined ? {} : { senderId: sent.senderId };
    return client.listSystemRecipients(org, sent.id, { ...options, ...sender });
  });
  return next === undefined ? items : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
