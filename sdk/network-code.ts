/**
 * The system's code of a network error, such as `ECONNREFUSED`. It is on the error in Bun, on its cause in Node, and nowhere in a
 * browser. For an error of this SDK, pass its `cause`.
 */
export function networkCode(error: unknown): string | undefined {
  for (let each = error; typeof each === "object" && each !== null; each = "cause" in each ? each.cause : undefined) {
    if ("code" in each && typeof each.code === "string") return each.code;
  }
  return undefined;
}
