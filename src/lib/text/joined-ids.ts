/** Keeps identifiers apart: it is a control character, and they hold none (api.md, section 1). */
export const idSeparator = "\u001f";

/** One text for several identifiers, another for any others. */
export function joinIds(...ids: (string | number)[]): string {
  return ids.join(idSeparator);
}
