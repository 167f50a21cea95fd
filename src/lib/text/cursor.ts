import { isStorableText } from "./text.ts";

/** Encodes `value` as an opaque cursor: base64url of JSON. It is neither secret nor signed. */
export function encodeCursor(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/**
 * Decodes a cursor; `undefined` if it is invalid or contains text that cannot be stored. The caller checks the shape.
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
