import type { Unreached, UnreachedUntil } from "../../contract/webhooks/payloads.ts";
import { joinIds } from "../../lib/text/joined-ids.ts";
import type { Fates, ReportedEvent, UnreachedReads } from "../../store/webhooks/ports.ts";

/** Finds the users whom events did not reach. */
export type Reports = {
  /** The report of each event, by its id. All are read together, so they must have few recipients, and none may go to everyone. */
  ofAll(events: readonly ReportedEvent[]): Promise<Map<string, Report>>;
  /** The report of one event; `undefined` if it has more than `most` recipients. */
  of(event: ReportedEvent, most: number): Promise<Report | undefined>;
};

/** The users whom an event has not reached, as its delivery report says now. */
export type Report = (until: UnreachedUntil) => Unreached[];

const recipientsAtOnce = 5_000;

/** Creates the reports of events. A recipient who was deleted or has left the conversation since is not in them. */
export function createReports(reads: UnreachedReads): Reports {
  async function candidatesOf(event: ReportedEvent, most: number): Promise<string[] | undefined> {
    if (event.address === "users") return await usersOf(event);
    const candidates: string[] = [];
    for (let after = ""; ; ) {
      const page = await reads.recipientsOf(event, { after, limit: recipientsAtOnce });
      for (const { uid, isRecipient } of page) if (isRecipient) candidates.push(uid);
      if (candidates.length > most) return undefined;
      const last = page.at(-1);
      if (last === undefined || page.length < recipientsAtOnce) return candidates;
      after = last.uid;
    }
  }

  async function usersOf({ org, id, offset }: ReportedEvent): Promise<string[]> {
    const uids = (await reads.lists([{ org, id }])).get(id) ?? [];
    const known = new Set<string>();
    for (let start = 0; start < uids.length; start += recipientsAtOnce) {
      const some = uids.slice(start, start + recipientsAtOnce);
      const users = await reads.users(some.map((uid) => ({ org, uid })));
      for (const { uid, after } of users) if (after < offset) known.add(uid);
    }
    return uids.filter((uid) => known.has(uid));
  }

  return {
    async ofAll(events) {
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
    async of(event, most) {
      const candidates = await candidatesOf(event, most);
      if (candidates === undefined) return undefined;
      const fates = await reads.fates([event]);
      return reportOf(event, candidates, fates.get(event.id));
    },
  };
}

function reportOf(event: ReportedEvent, candidates: readonly string[], fates: Fates | undefined): Report {
  const { delivered, acknowledged } = fates ?? { delivered: new Set(), acknowledged: new Set() };
  // Two senders may have used the acknowledged id of a system message, so it counts only for users who were given that one.
  const hasAcknowledged = (uid: string) => acknowledged.has(uid) && (event.kind === "message" || delivered.has(uid));
  return (until) =>
    candidates.flatMap((uid): Unreached[] => {
      if (hasAcknowledged(uid)) return [];
      if (!delivered.has(uid)) return [{ uid, reason: "offline" }];
      return until === "delivered" ? [] : [{ uid, reason: "unacknowledged" }];
    });
}

function distinct<Key extends Record<string, string>>(keys: Key[]): Key[] {
  return [...new Map(keys.map((key) => [joinIds(...Object.values(key)), key])).values()];
}
