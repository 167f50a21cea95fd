import { z } from "zod";
import { isAtMost, isStorableText } from "../lib/text.ts";

const maxIdentifierCharacters = 128;
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/;

/** Whether `text` may identify something: 1 to 128 characters, no control characters, no lone surrogates (api.md, section 1). */
export function isIdentifier(text: string): boolean {
  return text !== "" && isAtMost(text, maxIdentifierCharacters) && !controlCharacter.test(text) && text.isWellFormed();
}

/** An identifier given by a caller: opaque, compared byte for byte. */
export const identifier = z
  .string()
  .refine(isIdentifier, "must be 1 to 128 characters, none of them a control character")
  .meta({ minLength: 1, maxLength: maxIdentifierCharacters, pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]+$" });

/** Text of `minimum` to `maximum` characters (code points), stored and delivered unchanged. */
export function text(minimum: number, maximum: number) {
  const message = `must be ${minimum === 0 ? "at most" : `${minimum} to`} ${maximum} characters, without U+0000 and lone surrogates`;
  return z
    .string()
    .refine((value) => value.length >= minimum && isAtMost(value, maximum) && isStorableText(value), message)
    .meta({
      ...(minimum > 0 && { minLength: minimum }),
      ...(Number.isFinite(maximum) && { maxLength: maximum }),
      pattern: "^[^\\u0000]*$",
    });
}

/** Unix epoch seconds: `floor` of a time in milliseconds. */
export function toSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

/** ISO 8601 UTC with milliseconds. */
export function toIso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
