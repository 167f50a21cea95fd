import { forgetOldest } from "./forget-oldest.ts";

/** Creates an empty memory of the last `most` names. `isNew`: whether a name is not among them. */
export function createSeen(most: number): { isNew(name: string): boolean } {
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
