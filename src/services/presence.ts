import type { Bus, ConnectionsQuestion, PresenceAnswer, PresenceQuestion } from "../bus/bus.ts";
import { unavailable } from "../contract/errors/errors.ts";
import { absent } from "../contract/errors/naming.ts";
import { toIso } from "../contract/identifiers.ts";
import {
  maxUsersWithDevices,
  type OnlineCount,
  type OnlineUser,
  type UserConnectionList,
} from "../contract/presence.ts";
import { rowsOfStatement } from "../lib/queues/steps.ts";
import { encodeCursor } from "../lib/text/cursor.ts";
import { compareBytes } from "../lib/text/text.ts";
import type { Organizations, UserReads } from "../store/ports.ts";
import { requireOrganization, requireUser } from "./directory/directory.ts";
import type { Nodes } from "./nodes/nodes.ts";
import { idPlace, type Page, type PageQuery, parseCursor } from "./pages.ts";

const countedAtOnce = 10_000;
const storedLateMs = 10_000; // far more than the store is late, or the clocks of nodes differ

type LastEnded = UserConnectionList["last_ended"];

type Dependencies = {
  organizations: Pick<Organizations, "get">;
  users: Pick<UserReads, "get" | "seenAmong">;
  nodes: Pick<Nodes, "live">;
  bus: Pick<Bus, "request">;
};

/** The users asked about; `undefined` means all. */
type Uids = string[] | undefined;

type OnlineQuery = PageQuery & { uids?: Uids; devices?: boolean; lastSeen?: boolean };

/**
 * Who is connected now, across all nodes. Answers are complete: if a node does not answer, methods throw `unavailable`.
 */
export type Presence = ReturnType<typeof createPresence>;

/** Creates presence that asks all live nodes and merges their answers. */
export function createPresence({ organizations, users, nodes, bus }: Dependencies) {
  async function askNodes(question: PresenceQuestion): Promise<Map<string, PresenceAnswer>> {
    const live = await nodes.live();
    const heard = await bus.request(question, live);
    // Others may answer too late, sometimes: what they say counts only once they are live.
    const answers = new Map([...heard].filter(([id]) => live.includes(id)));
    const missing = live.filter((id) => !answers.has(id));
    // A node that left meanwhile is not missing: its connections are closed.
    const stillLive = missing.length === 0 ? [] : await nodes.live();
    const silent = missing.filter((id) => stillLive.includes(id));
    if (silent.length === 0) return answers;
    throw unavailable({
      detail: `${silent.length} of ${live.length} nodes did not respond (${silent.join(", ")}), so it is unknown who is connected; try again`,
    });
  }

  async function ask(question: PresenceQuestion): Promise<PresenceAnswer[]> {
    return [...(await askNodes(question)).values()];
  }

  /** Asks about the connections of one user, oldest first. Throws `user_not_found`. */
  async function askAboutConnections(
    org: string,
    uid: string,
    question: ConnectionsQuestion,
  ): Promise<UserConnectionList> {
    await requireUser({ organizations, users }, org, uid);
    const answers = await askNodes({ org, uids: [uid], connections: question });
    const seenAt = (await users.seenAmong(org, [uid])).get(uid);
    const items = [...answers].flatMap(([node, { connections }]) => {
      if (connections === undefined)
        throw unavailable({ detail: `the node ${node} runs an earlier version; try again once it is upgraded` });
      return connections.map(({ connection_id, ...connection }) => ({ connection_id, node, ...connection }));
    });
    const told = [...answers.values()].flatMap(({ last = {} }) => last);
    return {
      items: items.sort((one, other) => compareBytes(one.since, other.since)),
      last_ended: lastEnded(
        told.flatMap(({ last_ended }) => last_ended ?? []),
        seenAt,
      ),
      last_refused: newest(told.flatMap(({ last_refused }) => last_refused ?? [])) ?? null,
    };
  }

  async function ofUids(org: string, uids: string[], devices = false): Promise<OnlineUser[]> {
    const { users } = merge(await ask({ org, uids, ...(devices && { devices }) }));
    const online = new Map(users.map((user) => [user.id, user]));
    return uids.map((id, index) => {
      const isTold = devices && index < maxUsersWithDevices;
      return online.get(id) ?? { id, connections: 0, ...(isTold && { devices: [] }) };
    });
  }

  async function pageOfUsers(
    org: string,
    { limit, cursor, uids, devices }: Omit<OnlineQuery, "lastSeen">,
  ): Promise<Page<OnlineUser>> {
    const after = parseCursor(cursor, idPlace)?.id ?? "";
    if (uids !== undefined) {
      const asked = [...new Set(uids)].sort(compareBytes).filter((id) => compareBytes(id, after) > 0);
      return toOnlinePage(await ofUids(org, asked, devices), limit, false);
    }
    const { users, hasMore } = merge(await ask({ org, after, limit }));
    return toOnlinePage(users, limit, hasMore);
  }

  async function withLastSeen({ items, cursor }: Page<OnlineUser>, org: string): Promise<Page<OnlineUser>> {
    const seen = new Map<string, number>();
    for (let from = 0; from < items.length; from += rowsOfStatement) {
      const some = items.slice(from, from + rowsOfStatement).map(({ id }) => id);
      for (const [id, at] of await users.seenAmong(org, some)) seen.set(id, at);
    }
    const lastSeen = (at: number | undefined) => (at === undefined ? null : toIso(at));
    return { items: items.map((user) => ({ ...user, last_seen: lastSeen(seen.get(user.id)) })), cursor };
  }

  return {
    /** Those of `uids` who are connected; at most 500 may be asked about. */
    async onlineAmong(org: string, uids: string[]): Promise<Set<string>> {
      return new Set(merge(await ask({ org, uids })).users.map(({ id }) => id));
    },
    /** A text that changes when a user comes to a node or leaves it; `undefined` if a node runs an earlier version. */
    async versionOf(org: string): Promise<string | undefined> {
      return versionIn(await askNodes({ org, uids: [] }));
    },
    /**
     * All connected users, and the version that was listed: that of other nodes, or at another time, may be another one. It is
     * `undefined` if users came or went meanwhile, too. Whoever changes nodes meanwhile may be missing.
     */
    async everyone(org: string): Promise<{ uids: Set<string>; version: string | undefined }> {
      const uids = new Set<string>();
      const versions = new Set<string | undefined>();
      for (let after = ""; ; ) {
        const answers = await askNodes({ org, after, limit: countedAtOnce });
        const { users, hasMore } = merge([...answers.values()]);
        for (const { id } of users) uids.add(id);
        versions.add(versionIn(answers));
        const last = users.at(-1);
        if (!hasMore || last === undefined) return { uids, version: versions.size > 1 ? undefined : [...versions][0] };
        after = last.id;
      }
    },
    /** Where a user is connected now. Throws `user_not_found`. */
    connectionsOf: (org: string, uid: string): Promise<UserConnectionList> => askAboutConnections(org, uid, {}),
    /** Closes a connection of a user. Throws `not_found` unless it is open. */
    async closeConnection(org: string, uid: string, connection: string): Promise<void> {
      const { items } = await askAboutConnections(org, uid, { close: connection });
      if (items.length === 0) throw absent("connection", connection);
    },
    /** The connections and rates of an organization. */
    async useOf(org: string): Promise<{ connections: number; requests: number; messages: number }> {
      const answers = await ask({ org, uids: [] });
      const sum = (amountOf: (answer: PresenceAnswer) => number | undefined) =>
        answers.reduce((total, answer) => total + (amountOf(answer) ?? 0), 0);
      return {
        connections: sum(({ total }) => total.connections),
        requests: sum(({ rates }) => rates?.requests),
        messages: sum(({ rates }) => rates?.messages),
      };
    },
    /**
     * The connected users by id; with `uids`, exactly those users, connected or not, and with their devices if `devices`
     * is set. With `lastSeen`, each has the time that is stored.
     */
    async list(org: string, { lastSeen = false, ...query }: OnlineQuery): Promise<Page<OnlineUser>> {
      await requireOrganization(organizations, org);
      const page = await pageOfUsers(org, query);
      return lastSeen ? await withLastSeen(page, org) : page;
    },
    /** The number of connected users, each counted once, or how many of `uids` are connected. */
    async count(org: string, uids: Uids): Promise<OnlineCount> {
      await requireOrganization(organizations, org);
      // Nodes name only connected users.
      if (uids !== undefined) return countUsers(merge(await ask({ org, uids: [...new Set(uids)] })).users);
      const counted: OnlineCount = { count: 0, connections: 0 };
      for (let after = ""; ; ) {
        const answers = await ask({ org, after, limit: countedAtOnce });
        const [only, another] = answers.map(({ total }) => total).filter(({ users }) => users > 0);
        // Users can be counted twice only if two nodes have any; only then must all be listed.
        if (after === "" && another === undefined)
          return { count: only?.users ?? 0, connections: only?.connections ?? 0 };
        const { users, hasMore } = merge(answers);
        const page = countUsers(users);
        counted.count += page.count;
        counted.connections += page.connections;
        if (!hasMore) return counted;
        after = users.at(-1)?.id ?? after;
      }
    },
  };
}

/** The version that nodes have answered; `undefined` if one of them runs an earlier version. */
function versionIn(answers: ReadonlyMap<string, PresenceAnswer>): string | undefined {
  const versions = [...answers].flatMap(([node, { version }]) => (version === undefined ? [] : [`${node} ${version}`]));
  return versions.length < answers.size ? undefined : versions.sort(compareBytes).join();
}

/**
 * The users of all answers, each once, by id. A truncated list says nothing about users after its last one, so the
 * merged list ends at the first such place.
 */
function merge(answers: PresenceAnswer[]): { users: OnlineUser[]; hasMore: boolean } {
  const byId = new Map<string, OnlineUser>();
  for (const user of answers.flatMap(({ online }) => online)) {
    const known = byId.get(user.id);
    byId.set(user.id, known === undefined ? user : together(known, user));
  }
  const [end] = answers
    .filter(({ hasMore }) => hasMore)
    .map(({ online }) => online.at(-1)?.id ?? "")
    .sort(compareBytes);
  const users = [...byId.values()]
    .filter(({ id }) => end === undefined || compareBytes(id, end) <= 0)
    .sort((left, right) => compareBytes(left.id, right.id));
  return { users, hasMore: end !== undefined };
}

/** Merges one user's entries of two nodes. */
function together(one: OnlineUser, other: OnlineUser): OnlineUser {
  const devices = one.devices && [...one.devices, ...(other.devices ?? [])];
  return { ...one, connections: one.connections + other.connections, ...(devices !== undefined && { devices }) };
}

function toOnlinePage(users: OnlineUser[], limit: number, hasMore: boolean): Page<OnlineUser> {
  const items = users.slice(0, limit);
  const last = items.at(-1);
  const goesOn = hasMore || users.length > limit;
  return { items, cursor: goesOn && last !== undefined ? encodeCursor({ id: last.id }) : null };
}

function countUsers(users: OnlineUser[]): OnlineCount {
  return { count: users.length, connections: users.reduce((sum, { connections }) => sum + connections, 0) };
}

/** Of what nodes remember and the time that is stored, a second late at most, whichever is newer. */
function lastEnded(told: NonNullable<LastEnded>[], seenAt: number | undefined): LastEnded {
  const last = newest(told);
  if (seenAt === undefined || (last !== undefined && Date.parse(last.at) > seenAt - storedLateMs)) return last ?? null;
  return { at: toIso(seenAt) };
}

function newest<Timed extends { at: string }>(times: Timed[]): Timed | undefined {
  return times.toSorted((one, other) => compareBytes(other.at, one.at))[0];
}
