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
  /** Adds a connection of the user. */
  add(uid: string): void;
  /** Removes a connection of the user. */
  remove(uid: string): void;
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
    add(uid) {
      const count = users.get(uid) ?? 0;
      users.set(uid, count + 1);
      connections++;
      if (count === 0) note(uid, true);
    },
    remove(uid) {
      const count = users.get(uid) ?? 0;
      if (count === 0) return;
      connections--;
      if (count > 1) {
        users.set(uid, count - 1);
        return;
      }
      users.delete(uid);
      note(uid, false);
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
