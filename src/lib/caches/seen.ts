import { forgetOldest } from "./forget-oldest.ts";

/** Remembers the names seen last. */
export type Seen = {
  /** Whether a name is new, as far as remembered. */
  isNew(name: string): boolean;
};

/** Creates an empty memory of the last `most` names. */
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
