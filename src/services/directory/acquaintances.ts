import type { UserView } from "../../contract/connections/frames.ts";
import { HeraldError } from "../../contract/errors/errors.ts";
import { quoted } from "../../contract/errors/naming.ts";
import { toIso } from "../../contract/identifiers.ts";
import type { AcquaintanceReads, Entity, ParticipantReads } from "../../store/ports.ts";

// A look-up for each of these users in each of the asker's conversations is one statement, which SQLite does not interrupt.
const usersAtOnce = 10;
const most = { ofConversation: 1_000, together: 5_000 };

type Dependencies = { acquaintances: AcquaintanceReads; participants: Pick<ParticipantReads, "list"> };

/** Who takes part in which conversation. */
type ParticipantLists = { users: UserView[]; conversations: Record<string, string[]> };

/** Tells users about one another. A user sees only whom a conversation is shared with. */
export type Acquaintances = ReturnType<typeof createAcquaintances>;

/** Creates the acquaintances of users. */
export function createAcquaintances({ acquaintances, participants }: Dependencies) {
  /** Reads about users, some at a time, in the order of their ids. */
  async function inParts<Found>(
    ids: readonly string[],
    read: (some: string[]) => Promise<Iterable<Found>>,
  ): Promise<Found[]> {
    const distinct = [...new Set(ids)].sort();
    const found: Found[] = [];
    for (let from = 0; from < distinct.length; from += usersAtOnce)
      found.push(...(await read(distinct.slice(from, from + usersAtOnce))));
    return found;
  }

  const among = (org: string, uid: string, ids: readonly string[]) =>
    inParts(ids, (some) => acquaintances.among(org, uid, some));

  return {
    /** Those of `ids` who share a conversation with the user, and the user itself, by id. */
    async usersByIds(org: string, uid: string, ids: readonly string[]): Promise<UserView[]> {
      return (await among(org, uid, ids)).map(toUserView);
    },
    /** Like `usersByIds`, but only their ids. */
    async idsAmong(org: string, uid: string, ids: readonly string[]): Promise<Set<string>> {
      return new Set((await among(org, uid, ids)).map(({ id }) => id));
    },
    /**
     * When `other` was last seen, or else was created, in milliseconds since the Unix epoch. Throws `user_not_found` if the
     * user shares no conversation with `other`, whether there is such a user or not.
     */
    async lastSeen(org: string, uid: string, other: string): Promise<number> {
      const seenAt = (await acquaintances.lastSeen(org, uid, [other])).get(other);
      if (seenAt === undefined) throw stranger(uid, other);
      return seenAt;
    },
    /** The same for those of `ids` who share a conversation with the user, and the user itself. */
    async lastSeenAmong(org: string, uid: string, ids: readonly string[]): Promise<Map<string, number>> {
      return new Map(await inParts(ids, (some) => acquaintances.lastSeen(org, uid, some)));
    },
    /** The participants of those of `cids` in which the user takes part: at most 1,000 of each, and 5,000 together. */
    async participantsByCids(org: string, uid: string, cids: readonly string[]): Promise<ParticipantLists> {
      const conversations: [cid: string, uids: string[]][] = [];
      const users = new Map<string, Entity>();
      let left = most.together;
      for (const cid of await acquaintances.conversationsAmong(org, uid, [...new Set(cids)])) {
        const limit = Math.min(left, most.ofConversation);
        const listed = limit === 0 ? [] : await participants.list(org, cid, { after: undefined, limit });
        left -= listed.length;
        for (const user of listed) users.set(user.id, user);
        conversations.push([cid, listed.map(({ id }) => id)]);
      }
      const byId = [...users.values()].sort((left, right) => (left.id < right.id ? -1 : 1));
      return { users: byId.map(toUserView), conversations: Object.fromEntries(conversations) };
    },
  };
}

function stranger(uid: string, other: string): HeraldError {
  const detail = `${quoted(uid)} shares no conversation with ${quoted(other)}; use \`get_participants_by_cids\``;
  return new HeraldError("user_not_found", detail);
}

/** A user, as other users see it. */
export function toUserView({ id, name, createdAt }: Entity): UserView {
  return { _id: id, login: name ?? id, created_at: toIso(createdAt) };
}
