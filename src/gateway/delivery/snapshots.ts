import type { Audience } from "./audience.ts";

/** Users at one moment. Lists may be shared by several events, so nobody changes them. */
export type Listeners = {
  readonly uids: readonly string[];
  readonly set: ReadonlySet<string>;
  readonly isShared: boolean;
};

/** Copies of audiences, each made once for all events that are played to the same users. */
export type Snapshots = {
  readonly nobody: Listeners;
  of(audience: Pick<Audience, "changes" | "uids">): Listeners;
  ofUids(uids: readonly string[]): Listeners;
  /** Both, each user once. */
  join(one: Listeners | undefined, other: Listeners): Listeners;
};

/** Creates snapshots; none is kept longer than its audience. */
export function createSnapshots(): Snapshots {
  const latest = new WeakMap<object, { changes: number; listeners: Listeners }>();

  return {
    nobody: listenersOf([], true),
    of(audience) {
      const known = latest.get(audience);
      if (known?.changes === audience.changes) return known.listeners;
      const listeners = listenersOf([...audience.uids()], true);
      latest.set(audience, { changes: audience.changes, listeners });
      return listeners;
    },
    ofUids: (uids) => listenersOf(uids, false),
    join: (one, other) => (one === undefined ? other : listenersOf([...one.set.union(other.set)], false)),
  };
}

function listenersOf(uids: readonly string[], isShared: boolean): Listeners {
  return { uids, set: new Set(uids), isShared };
}
