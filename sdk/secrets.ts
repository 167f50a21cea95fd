import { HeraldArgumentError } from "./errors.ts";

/**
 * A key or a token as it is sent: without the white space around it, which files and variables often have. Throws
 * `HeraldArgumentError` for what cannot be in a header. The error never contains the value, as those of `fetch` do.
 */
export function readSecret(value: unknown, what: string): string {
  const text = typeof value === "string" ? value.trim() : "";
  if (/^[!-~]+$/.test(text)) return text;
  throw refuseSecret(value, what);
}

/** What is wrong with a value that is no key or token, without the value. */
export function refuseSecret(value: unknown, what: string): HeraldArgumentError {
  if (typeof value !== "string") return new HeraldArgumentError(`${what} is not text but ${nameOf(value)}.`);
  const at = value.trim().search(/[^!-~]/);
  if (at < 0) return new HeraldArgumentError(`${what} is empty.`);
  return new HeraldArgumentError(
    `${what} contains a character that no key or token has, at position ${at + 1}: check how it is read (a line break, a quotation mark, an error page, …).`,
  );
}

function nameOf(value: unknown): string {
  return value === null || value === undefined ? String(value) : `a value of the type ${typeof value}`;
}
