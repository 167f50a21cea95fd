/**
 * Users who were given something one after another. Those who were given it in the same order are the same object, however many
 * things they were given, so that one more costs the same for a thousand users as for one.
 */
export type Hearers = {
  /** Unlike that of any other hearers. */
  readonly id: number;
  /** How often somebody was given it. */
  readonly connections: number;
  /** These and then this user. */
  with(uid: string): Hearers;
  /** Whether there are these with this user already. */
  knows(uid: string): boolean;
  /** Each user once. */
  uids(): string[];
};

type Node = { uid: string; before: Node | undefined };

/** Nobody yet. */
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
