/** A copy of an object with some methods and properties replaced. */
export function overriding<Whole extends object>(whole: Whole, changes: Partial<Whole>): Whole {
  const made: Whole = Object.create(whole);
  return Object.assign(made, changes);
}
