import { z } from "zod";
import { type HeraldError, invalidRequest } from "../../contract/errors/errors.ts";
import { jsonPointer } from "../../lib/json/json-text.ts";

/** The names of the query parameters that are lists. */
export function listsOf(query: z.ZodType): Set<string> {
  const members = query instanceof z.ZodObject ? Object.entries<z.ZodType>(query.shape) : [];
  const isList = (member: z.ZodType) =>
    (member instanceof z.ZodOptional ? member.unwrap() : member) instanceof z.ZodArray;
  return new Set(members.filter(([, member]) => isList(member)).map(([name]) => name));
}

/**
 * Parses the query parameters of a URL. Each may occur once, except `lists`: those may repeat, and are split at commas
 * before decoding, so that `%2C` is a comma within an item (RFC 6570, section 3.2.8).
 */
export function readQuery(url: string, lists: ReadonlySet<string>): Record<string, string | string[]> {
  const start = url.indexOf("?");
  if (start === -1) return {};
  const query = new Map<string, string | string[]>();
  for (const pair of url.slice(start + 1).split("&")) {
    if (pair === "") continue;
    const [, rawName = "", rawValue = ""] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
    const name = decode(rawName, "");
    const earlier = query.get(name);
    if (lists.has(name)) {
      query.set(name, [...(earlier ?? []), ...rawValue.split(",").map((item) => decode(item, name))]);
    } else if (earlier === undefined) {
      query.set(name, decode(rawValue, name));
    } else {
      throw refused(name, `the query parameter ${name} appears twice`, "send it once");
    }
  }
  return Object.fromEntries(query);
}

/** Decodes like an HTML form, in which `+` is a space, too. */
function decode(text: string, name: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw refused(
      name,
      "the query is not valid percent-encoded UTF-8 (RFC 3986, section 2.5)",
      "must be percent-encoded UTF-8",
    );
  }
}

function refused(name: string, detail: string, fieldDetail: string): HeraldError {
  return invalidRequest(name === "" ? "" : jsonPointer([name]), fieldDetail, detail);
}
