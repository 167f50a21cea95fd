/** Knows whether several names are active, such as organizations that use a node. */
export type Sharing = {
  /** Notes that a name is active now. */
  note(name: string): void;
  /** Whether one name followed another within the last second. */
  isShared(): boolean;
};

const sharedForMs = 1_000;

/** Creates a sharing that nobody uses. `now` is in milliseconds and never goes back. */
export function createSharing(now = () => performance.now()): Sharing {
  let last: string | undefined;
  let sharedUntil = Number.NEGATIVE_INFINITY;

  return {
    note(name) {
      if (name === last) return;
      if (last !== undefined) sharedUntil = now() + sharedForMs;
      last = name;
    },
    isShared: () => now() < sharedUntil,
  };
}
