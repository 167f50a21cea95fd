/** The common part of `Map` and `Set`: keys in insertion order. */
type Kept<Key> = { readonly size: number; keys(): Iterable<Key>; delete(key: Key): boolean };

/** Removes the oldest entry if there are more than `most`. Call it after each insertion. */
export function forgetOldest<Key>(kept: Kept<Key>, most: number): void {
  if (kept.size <= most) return;
  for (const oldest of kept.keys()) {
    kept.delete(oldest);
    return;
  }
}
