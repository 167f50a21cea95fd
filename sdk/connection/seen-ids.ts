/** Remembers ids. `add` returns whether the id is new. */
export type SeenIds = { add(id: string): boolean; has(id: string): boolean; readonly size: number };

/** Remembers the last `capacity` new ids and forgets the oldest first, so that memory stays bounded. */
export function createSeenIds(capacity: number): SeenIds {
  const ids = new Set<string>();
  return {
    add(id) {
      if (ids.has(id)) return false;
      ids.add(id);
      if (ids.size > capacity) {
        for (const oldest of ids) {
          ids.delete(oldest);
          break;
        }
      }
      return true;
    },
    has: (id) => ids.has(id),
    get size() {
      return ids.size;
    },
  };
}
