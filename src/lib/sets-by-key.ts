/** Creates sets of values by key. A key without any values costs nothing. */
export function createSetsByKey<Key, Value>() {
  const sets = new Map<Key, Set<Value>>();
  return {
    add(key: Key, value: Value): void {
      const values = sets.get(key) ?? new Set();
      sets.set(key, values.add(value));
    },
    remove(key: Key, value: Value): void {
      const values = sets.get(key);
      values?.delete(value);
      if (values?.size === 0) sets.delete(key);
    },
    /** The values of a key; `undefined` if there are none. */
    of: (key: Key): ReadonlySet<Value> | undefined => sets.get(key),
    /** The number of keys that have values. */
    get size(): number {
      return sets.size;
    },
  };
}
