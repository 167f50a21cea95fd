/** Something like another, but for some of its methods and properties. */
export function overriding<Whole extends object>(whole: Whole, changes: Partial<Whole>): Whole {
  const made: Whole = Object.create(whole);
  return Object.assign(made, changes);
}
