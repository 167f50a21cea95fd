import type { Unreached, UnreachedUntil } from "../../contract/webhooks/payloads.ts";
import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import { rowsOfStatement } from "../../lib/queues/steps.ts";
import { joinIds } from "../../lib/text/ids.ts";
import type { RecipientReads } from "../../store/delivery/ports.ts";
import type { ReportedEvent, UnreachedReads } from "../../store/webhooks/ports.ts";
import { readAway, readFirstDeliveries } from "../delivery/first-deliveries.ts";

/** The users whom an event has not reached, as its delivery report says now. */
export type Report = (until: UnreachedUntil) => Unreached[];

/**
 * Reads who has an event to a conversation or to everyone by now. The function that it returns pages through those who do not, in
 * order of uid and after a given user; pages may be empty.
 */
export type UnreachedPages = (
  event: ReportedEvent,
  until: UnreachedUntil,
) => Promise<(after: string) => AsyncIterable<Unreached[]>>;

type PageDependencies = {
  unreached: Pick<UnreachedReads, "recipientsOf">;
  recipients: Pick<RecipientReads, "deliveryIds" | "deliveries" | "acknowledgedAt">;
};

type Users = Pick<ReadonlySet<string>, "has">;

/** Creates the reports of events. A recipient who was deleted or has left the conversation since is not in them. */
export function createReports(reads: UnreachedReads) {
  async function candidatesOf(event: ReportedEvent, most: number): Promise<string[] | undefined> {
    if (event.address === "users") return await usersOf(event);
    const candidates: string[] = [];
    for await (const uids of recipientPages(reads, event, "")) {
      candidates.push(...uids);
      if (candidates.length > most) return undefined;
    }
    return candidates;
  }

  async function usersOf({ org, id, offset }: ReportedEvent): Promise<string[]> {
    const uids = (await reads.lists([{ org, id }])).get(id) ?? [];
    const known = new Set<string>();
    for (let start = 0; start < uids.length; start += rowsOfStatement) {
      const some = uids.slice(start, start + rowsOfStatement);
      const users = await reads.users(some.map((uid) => ({ org, uid })));
      for (const { uid, after } of users) if (after < offset) known.add(uid);
    }
    return uids.filter((uid) => known.has(uid));
  }

  return {
    /** The report of each event, by its id. All are read together, so they must have few recipients, and none may go to everyone. */
    async ofAll(events: readonly ReportedEvent[]): Promise<Map<string, Report>> {
      const inConversations = events.filter(({ address }) => address === "conversation");
      const toUsers = events.filter(({ address }) => address === "users");
      const [fates, participants, lists] = await Promise.all([
        reads.fates(events),
        reads.participants(distinct(inConversations.map(({ org, cid = "" }) => ({ org, cid })))),
        toUsers.length === 0 ? new Map<string, string[]>() : reads.lists(toUsers),
      ]);
      const listed = toUsers.flatMap(({ org, id }) => (lists.get(id) ?? []).map((uid) => ({ org, uid })));
      const users = await reads.users(distinct(listed));
      const inConversation = Map.groupBy(participants, ({ org, cid }) => joinIds(org, cid));
      const since = new Map(users.map(({ org, uid, after }) => [joinIds(org, uid), after]));
      const reports = new Map<string, Report>();
      for (const event of inConversations) {
        const some = inConversation.get(joinIds(event.org, event.cid ?? "")) ?? [];
        const candidates = some.filter(({ after }) => after < event.offset).map(({ uid }) => uid);
        reports.set(event.id, reportOf(event, candidates, fates.get(event.id)));
      }
      for (const event of toUsers) {
        const isUser = (uid: string) => (since.get(joinIds(event.org, uid)) ?? event.offset) < event.offset;
        reports.set(event.id, reportOf(event, (lists.get(event.id) ?? []).filter(isUser), fates.get(event.id)));
      }
      return reports;
    },
    /** The report of one event; `undefined` if it has more than `most` recipients. */
    async of(event: ReportedEvent, most: number): Promise<Report | undefined> {
      const candidates = await candidatesOf(event, most);
      if (candidates === undefined) return undefined;
      const fates = await reads.fates([event]);
      return reportOf(event, candidates, fates.get(event.id));
    },
  };
}

/** Creates the pages. */
export function createUnreachedPages({ unreached, recipients }: PageDependencies): UnreachedPages {
  return async (event, until) => {
    const { org, id, kind } = event;
    const times = await readFirstDeliveries(recipients, org, event);
    const away = await readAway(recipients, org, event);

    async function unreachedAmong(uids: string[]): Promise<Unreached[]> {
      const delivered = await times.find(uids);
      // A receipt proves the delivery of a message, but not that of a system message.
      const mayMatter = (uid: string) =>
        delivered.has(uid) ? until === "acknowledged" || away.has(uid) : kind === "message";
      const asked = uids.filter(mayMatter);
      const acknowledged = asked.length === 0 ? nobody : await recipients.acknowledgedAt({ org, id }, asked);
      return reportOf(event, uids, { delivered, away, acknowledged })(until);
    }

    return async function* pages(after) {
      for await (const uids of recipientPages(unreached, event, after)) {
        yield await unreachedAmong(uids);
        await nextTurn();
      }
    };
  };
}

/** The recipients of an event to a conversation or to everyone, in order of uid; pages may be empty. */
async function* recipientPages(
  reads: Pick<UnreachedReads, "recipientsOf">,
  event: ReportedEvent,
  after: string,
): AsyncGenerator<string[], void> {
  for (let place = after; ; ) {
    const page = await reads.recipientsOf(event, { after: place, limit: rowsOfStatement });
    yield page.flatMap(({ uid, isRecipient }) => (isRecipient ? [uid] : []));
    const last = page.at(-1);
    if (last === undefined || page.length < rowsOfStatement) return;
    place = last.uid;
  }
}

const nobody: Users = new Set<string>();
const unseen = { delivered: nobody, away: nobody, acknowledged: nobody };

function reportOf(
  event: ReportedEvent,
  candidates: readonly string[],
  { delivered, away, acknowledged }: { delivered: Users; away: Users; acknowledged: Users } = unseen,
): Report {
  // Two senders may have used the acknowledged id of a system message, so it counts only for users who were given that one.
  const hasAcknowledged = (uid: string) => acknowledged.has(uid) && (event.kind === "message" || delivered.has(uid));
  return (until) =>
    candidates.flatMap((uid): Unreached[] => {
      if (hasAcknowledged(uid)) return [];
      if (!delivered.has(uid)) return [{ uid, reason: "offline" }];
      return until === "delivered" && !away.has(uid) ? [] : [{ uid, reason: "unacknowledged" }];
    });
}

function distinct<Key extends Record<string, string>>(keys: Key[]): Key[] {
  return [...new Map(keys.map((key) => [joinIds(...Object.values(key)), key])).values()];
}
