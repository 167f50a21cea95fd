import { forgetOldest } from "./forget-oldest.ts";

/** Remembers names that were seen, the last ones. */
export type Seen = {
  /** Whether a name comes for the first time, as far as that is remembered. */
  isNew(name: string): boolean;
};

/** Remembers the last `most` names, and has seen none. */
export function createSeen(most: number): Seen {
  const names = new Set<string>();
  return {
    isNew(name) {
      if (names.has(name)) return false;
      names.add(name);
      forgetOldest(names, most);
      return true;
    },
  };
}
