/** Separates identifiers, which must contain no control characters. */
export const idSeparator = "\u001f";

/** Joins identifiers into a text that is unique to them. */
export function joinIds(...ids: (string | number)[]): string {
  return ids.join(idSeparator);
}
