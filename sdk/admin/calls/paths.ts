import { HeraldArgumentError } from "../../errors.ts";

/**
 * A path of percent-encoded identifiers: path`/admin/organizations/${org}`.
 * Throws `HeraldArgumentError` for an empty identifier and for `.` and `..`. URL parsers treat those, even percent-encoded, as path
 * steps, so the request would reach another resource (WHATWG URL, "double-dot URL path segment").
 */
export function path(texts: TemplateStringsArray, ...identifiers: string[]): string {
  return texts.reduce((whole, text, index) => whole + encodeIdentifier(identifiers[index - 1] ?? "") + text);
}

function encodeIdentifier(identifier: string): string {
  if (identifier === "" || identifier === "." || identifier === "..") {
    throw new HeraldArgumentError(`The identifier ${JSON.stringify(identifier)} cannot be part of a URL.`);
  }
  return encodeURIComponent(identifier);
}

/**
 * A query string with its `?`, or an empty string. Omits members that are `undefined`. Encodes each item of a list separately, so
 * that commas within items differ from those between them (RFC 6570, section 3.2.8).
 */
export function query(parameters: Record<string, string | number | boolean | string[] | undefined>): string {
  const given = Object.entries(parameters).filter((entry) => entry[1] !== undefined);
  if (given.length === 0) return "";
  return `?${given.map(([name, value]) => `${name}=${[value].flat().map(encode).join(",")}`).join("&")}`;
}

function encode(value: unknown): string {
  return encodeURIComponent(String(value));
}
