/** Keeps identifiers apart, which must hold no control characters. */
export const idSeparator = "\u001f";

/** One text for several identifiers, another for any others. */
export function joinIds(...ids: (string | number)[]): string {
  return ids.join(idSeparator);
}
