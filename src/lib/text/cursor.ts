import { isStorableText } from "./text.ts";

/** An opaque cursor that holds `value`: base64url of JSON. It is no secret and no promise, just a place in a list. */
export function encodeCursor(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/**
 * What a cursor holds, or `undefined` when it is not one of ours: also when it holds text that no database may be asked about.
 * The caller checks the shape.
 */
export function decodeCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"), (_, value: unknown) => {
      if (typeof value === "string" && !isStorableText(value)) throw new RangeError("text that cannot be stored");
      return value;
    });
  } catch {
    return undefined;
  }
}
