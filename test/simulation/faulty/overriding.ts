/** An object with some methods and properties replaced. The others are its own: they see themselves, not the replacements. */
export function overriding<Whole extends object>(whole: Whole, changes: Partial<Whole>): Whole {
  return new Proxy(whole, {
    get(_, key) {
      if (Object.hasOwn(changes, key)) return Reflect.get(changes, key);
      const value: unknown = Reflect.get(whole, key, whole);
      return typeof value === "function" ? value.bind(whole) : value;
    },
    set: (_, key, value) => Reflect.set(whole, key, value, whole),
  });
}
