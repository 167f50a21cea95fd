/** What a `Map` and a `Set` have in common: keys in the order in which they were put. */
type Kept<Key> = { readonly size: number; keys(): Iterable<Key>; delete(key: Key): boolean };

/** Takes out what was put first if more than `most` are kept. Call it after each that is put. */
export function forgetOldest<Key>(kept: Kept<Key>, most: number): void {
  if (kept.size <= most) return;
  for (const oldest of kept.keys()) {
    kept.delete(oldest);
    return;
  }
}
