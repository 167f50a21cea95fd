import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import type { SystemMessageReadEvent } from "../../../src/contract/messages/inbox.ts";
import { aboutOf } from "../models/changes.ts";
import type { Hearing } from "../models/client.ts";
import type { Listing } from "../models/marker.ts";
import type { Organization } from "../models/organization.ts";
import type { History, Known } from "./history.ts";
import { goneAt, type Item, inboxOf } from "./inboxes.ts";

const isUnreadAt = (item: Item, time: number) => !item.isSilent && Math.min(goneAt(item), item.readAt) > time;

/** The log that the database had from one time to another; `undefined` if it was set back meanwhile. */
function logDuring({ commits, lost }: Organization, from: number, to: number) {
  const next = lost.find(({ endedAt }) => endedAt >= from);
  if (next === undefined) return commits;
  return next.endedAt <= to ? undefined : next.commits;
}

/** A mark that was asked for before the log was set back may cover the place of a message that came back, as its recall was lost. */
function mayBeReadByChance({ lost }: Organization, time: number): boolean {
  return lost.some(({ endedAt }) => endedAt <= time);
}

/** `connect` counts what is unread up to the place at which the connection begins, and nothing that it hears later. */
export function* judgeCount(history: History, hearing: Hearing, head: number): Iterable<string> {
  const { answer, openedAt, answeredAt, isStream, uid, beganAt } = hearing;
  const organization = history.organization(hearing.org);
  const { purgedUpTo } = organization;
  if (isStream || answer === undefined || openedAt === undefined || answeredAt === undefined) return;
  if (mayBeReadByChance(organization, answeredAt)) return;
  const commits = logDuring(organization, beganAt, answeredAt);
  if (commits === undefined) return;
  const items = inboxOf(commits, uid).items.filter(({ event }) => event.offset <= head);
  const least = items.filter((item) => isUnreadAt(item, answeredAt) && item.event.offset > purgedUpTo).length;
  const most = items.filter((item) => isUnreadAt(item, openedAt - 1)).length;
  const count = answer.unread_system_messages_count ?? 0;
  if (count < least || count > most) yield `is told of ${count} unread system messages, and has ${least} to ${most}`;
}

/**
 * Whoever stays is told of all that makes an unread item leave the inbox, but for the end of the time that it is kept. Of what
 * replaced it, the recall is enough.
 */
export function* judgeWhatLeaves(history: History, hearing: Hearing, known: Known, head: number): Iterable<string> {
  const { openedAt, uid, ended } = hearing;
  if (ended !== undefined || openedAt === undefined || known.lostAt !== Number.POSITIVE_INFINITY) return;
  const { items } = inboxOf(known.commits, uid);
  const heard = new Set(hearing.heard.filter(({ event }) => event.offset > head).map(({ event }) => event));
  const named = new Set([...heard].flatMap(namedBy));
  const isReplacedBy = ({ event, senderKey }: Item, other: Item) =>
    senderKey !== undefined && other.senderKey === senderKey && other.event.offset > event.offset;
  for (const item of items) {
    const { event, keptUntil } = item;
    const wasThere = event.offset > head ? heard.has(event) : isUnreadAt(item, openedAt);
    if (!wasThere || isUnreadAt(item, history.endedAt) || item.isSilent || keptUntil <= history.endedAt) continue;
    const isTold = (other: Item) => heard.has(other.event) || named.has(other.event.id);
    if (named.has(event.id) || items.some((other) => isReplacedBy(item, other) && isTold(other))) continue;
    yield `is not told that ${event.id} is no longer unread in the inbox`;
  }
}

/** The ids of the system messages that an event says are read or taken back. */
function namedBy(event: LogEvent): string[] {
  if (event.kind === "system_recall") return aboutOf(event);
  if (event.kind !== "system_read") return [];
  const { system_message_read: read }: SystemMessageReadEvent = JSON.parse(event.payload);
  return read.seen ? [] : read.ids;
}

/** A page of an inbox has the newest of what was there while it was read, in their order, and nothing that was not. */
export function* judgeListings(history: History, listings: readonly Listing[]): Iterable<string> {
  for (const listing of listings)
    for (const broken of judgeListing(history, listing))
      yield `${listing.uid} in ${listing.org}, who lists ${listing.ids} from ${listing.askedAt} to ${listing.answeredAt}, ${broken}`;
}

function* judgeListing({ organization }: History, listing: Listing): Iterable<string> {
  const { org, uid, isUnread, before, askedAt, answeredAt, ids } = listing;
  const { purgedUpTo } = organization(org);
  const commits = logDuring(organization(org), askedAt, answeredAt);
  if (commits === undefined || (isUnread && mayBeReadByChance(organization(org), answeredAt))) return;
  const items = new Map(inboxOf(commits, uid).items.map((item) => [item.event.id, item]));
  const first = items.get(before ?? "");
  const isThroughout = ({ sentAt, event }: Item, until: number) =>
    sentAt < askedAt && until > answeredAt && event.offset > purgedUpTo;
  if (ids === undefined) {
    if (first !== undefined && isThroughout(first, goneAt(first))) yield `does not find ${first.event.id}`;
    return;
  }
  const lastingUntil = (item: Item) => Math.min(goneAt(item), isUnread ? item.readAt : Number.POSITIVE_INFINITY);
  const listed = ids.flatMap((id) => items.get(id) ?? []);
  if (listed.length < ids.length) yield "is shown what was not for the user";
  let above = before === undefined ? Number.POSITIVE_INFINITY : (first?.event.offset ?? 0);
  for (const item of listed) {
    const { id, offset } = item.event;
    if (item.sentAt > answeredAt || lastingUntil(item) < askedAt) yield `is shown ${id}, which is not there`;
    if (offset >= above) yield `is shown ${id} out of order`;
    for (const other of items.values()) {
      const isBetween = other.event.offset > offset && other.event.offset < above;
      if (isBetween && isThroughout(other, lastingUntil(other))) yield `is not shown ${other.event.id}`;
    }
    above = offset;
  }
}
