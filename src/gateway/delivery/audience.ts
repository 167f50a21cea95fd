import { createId } from "../../lib/text/ids.ts";

/** Up to this many users are listed with each delivery instead of being stored as an audience. */
const mostListed = 16;
const longestChain = 1_000;

/** The users of an audience at one moment. */
export type AudienceVersion = {
  /** The users, if they are few. */
  readonly listed: string[] | undefined;
  /** Otherwise the difference to the version `parent`. */
  readonly kept: { id: string; parent: string | undefined; added: string[]; removed: string[] } | undefined;
};

/** The users who hear one conversation, or without `cid` a whole organization, on this node, with their connections. */
export type Audience = {
  readonly org: string;
  readonly cid: string | undefined;
  readonly connections: number;
  /** Grows whenever a user joins or leaves. */
  readonly changes: number;
  /** The current users. */
  uids(): Iterable<string>;
  /** Whether it has a connection of the user. */
  has(uid: string): boolean;
  /** Adds a connection of the user; `isInactive`: its client is in the background. */
  add(uid: string, isInactive?: boolean): void;
  /** Removes a connection of the user. */
  remove(uid: string, isInactive?: boolean): void;
  /** The client of a connection of the user has gone to the background, or come back. */
  setInactive(uid: string, isInactive: boolean): void;
  /** The users whose connections are all inactive; `undefined` while there is none. */
  readonly away: Audience | undefined;
  /**
   * The current users: the same version until somebody joins or leaves, and a new chain in a new `epoch`, as the store may have
   * lost earlier versions, or after `livesMs`.
   */
  version(now: number, epoch: number, livesMs: number): AudienceVersion;
};

type Chain = { epoch: number; bornAt: number; endsAt: number; length: number; weight: number; lastId: string };

/**
 * Creates an empty audience. A version costs as much as has changed since the previous one; once the changes add up to
 * the number of users, the next version lists all of them again.
 */
export function createAudience(org: string, cid: string | undefined): Audience {
  const users = new Map<string, number>();
  const changes = new Map<string, boolean>();
  const inactive = new Map<string, number>();
  let away: Audience | undefined;
  let connections = 0;
  let changeCount = 0;
  let current: AudienceVersion | undefined;
  let chain: Chain | undefined;

  /** Notes a change; joining and leaving again cancel out. */
  function note(uid: string, isIn: boolean): void {
    changeCount++;
    if (current === undefined) return;
    if (changes.get(uid) === !isIn) changes.delete(uid);
    else changes.set(uid, isIn);
  }

  /** Counts an inactive connection of a user, or one less. */
  function countInactive(uid: string, by: 1 | -1): void {
    const count = (inactive.get(uid) ?? 0) + by;
    if (count > 0) inactive.set(uid, count);
    else inactive.delete(uid);
  }

  function settleAway(uid: string): void {
    const isAway = inactive.has(uid) && inactive.get(uid) === users.get(uid);
    if (isAway === (away?.has(uid) ?? false)) return;
    away ??= createAudience(org, cid);
    if (isAway) away.add(uid);
    else away.remove(uid);
  }

  function begin(now: number, epoch: number, livesMs: number): AudienceVersion {
    const id = createId(now);
    chain = { epoch, bornAt: now, endsAt: now + livesMs, length: 1, weight: 0, lastId: id };
    return { listed: undefined, kept: { id, parent: undefined, added: [...users.keys()], removed: [] } };
  }

  function goOn(known: Chain, now: number): AudienceVersion {
    const id = createId(now);
    const of = (isIn: boolean) => [...changes].filter(([, value]) => value === isIn).map(([uid]) => uid);
    const kept = { id, parent: known.lastId, added: of(true), removed: of(false) };
    chain = { ...known, length: known.length + 1, weight: known.weight + changes.size, lastId: id };
    return { listed: undefined, kept };
  }

  function isGood(known: Chain, now: number, epoch: number): boolean {
    return known.epoch === epoch && now < known.endsAt && now >= known.bornAt;
  }

  return {
    org,
    cid,
    get connections() {
      return connections;
    },
    get changes() {
      return changeCount;
    },
    uids: () => users.keys(),
    has: (uid) => users.has(uid),
    add(uid, isInactive = false) {
      const count = users.get(uid) ?? 0;
      users.set(uid, count + 1);
      connections++;
      if (count === 0) note(uid, true);
      if (isInactive) countInactive(uid, 1);
      if (inactive.size > 0) settleAway(uid);
    },
    remove(uid, isInactive = false) {
      const count = users.get(uid) ?? 0;
      if (count === 0) return;
      connections--;
      if (count > 1) users.set(uid, count - 1);
      else {
        users.delete(uid);
        note(uid, false);
      }
      if (inactive.size === 0) return;
      if (isInactive) countInactive(uid, -1);
      settleAway(uid);
    },
    setInactive(uid, isInactive) {
      countInactive(uid, isInactive ? 1 : -1);
      settleAway(uid);
    },
    get away() {
      return away !== undefined && away.connections > 0 ? away : undefined;
    },
    version(now, epoch, livesMs) {
      const known = chain !== undefined && isGood(chain, now, epoch) ? chain : undefined;
      if (current !== undefined && changes.size === 0 && (current.listed ?? known) !== undefined) return current;
      if (users.size <= mostListed) {
        chain = undefined;
        current = { listed: [...users.keys()], kept: undefined };
      } else if (known !== undefined && known.length < longestChain && known.weight + changes.size <= users.size) {
        current = goOn(known, now);
      } else {
        current = begin(now, epoch, livesMs);
      }
      changes.clear();
      return current;
    },
  };
}
