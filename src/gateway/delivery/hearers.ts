/**
 * An immutable list of users, shared by all events given to the same users in the same order, so that one more event
 * costs the same for a thousand users as for one.
 */
export type Hearers = {
  /** Unique among all lists. */
  readonly id: number;
  /** The number of deliveries in the list. */
  readonly connections: number;
  /** This list with the user appended. */
  with(uid: string): Hearers;
  /** Whether the list with this user appended exists already. */
  knows(uid: string): boolean;
  /** Each user once. */
  uids(): string[];
};

type Node = { uid: string; before: Node | undefined };

/** Creates an empty list. */
export function createHearers(): Hearers {
  let lastId = 0;

  function create(node: Node | undefined, connections: number): Hearers {
    const next = new Map<string, Hearers>();
    return {
      id: ++lastId,
      connections,
      with(uid) {
        const known = next.get(uid) ?? create({ uid, before: node }, connections + 1);
        next.set(uid, known);
        return known;
      },
      knows: (uid) => next.has(uid),
      uids() {
        const uids = new Set<string>();
        for (let one = node; one !== undefined; one = one.before) uids.add(one.uid);
        return [...uids].reverse();
      },
    };
  }

  return create(undefined, 0);
}
