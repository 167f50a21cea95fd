import packageJson from "../../../package.json" with { type: "json" };
import type { PayloadLimits } from "../limits.ts";

/** What Herald is and what all calls have in common, in Markdown. The documents and `/docs` share this text. */
export const about = {
  title: "Herald",
  version: packageJson.version,
  license: packageJson.license,
  tagline: "Messages, delivered as they are sent.",
  /** Herald in three sentences. */
  introduction:
    "Herald delivers messages to people while they are online. Your backend makes one HTTP call; Herald stores the message and immediately delivers it to every open connection of every participant in the conversation. A client that was disconnected names the last message that it received and gets everything that it missed, in order.",
  authentication: "Every call under `/admin` needs an API key in the header `Admin-Api-Key`.",
  retries:
    "Sends are idempotent: the `id` of a message identifies the send. A request with the same id sends nothing again, and returns the original response with `Idempotent-Replayed: true`. After a 500, 503 or 507, or if you get no response, the outcome is unknown: retry with the same id.",
  strictness:
    "Unknown members are refused, so that a typo is never silently ignored. Duplicate members and numbers that parsing would change are refused, too.",
} as const;

/** The rules for identifiers, times and texts in the whole contract, in Markdown. */
export const conventions = [
  "Identifiers are opaque strings of 1 to 128 characters without control characters, compared byte for byte. In a path they are percent-encoded.",
  "`t` is in Unix epoch seconds; `created_at` is ISO 8601 UTC with milliseconds.",
  "Text is any Unicode except U+0000, stored and delivered unchanged. Its length is counted in characters (code points).",
  "A list returns a `cursor` for the next page, or `null` on the last page.",
  "Every response carries `X-Request-Id`.",
] as const;

/** The rule for nesting JSON, in Markdown; empty if that limit is lifted. */
export function nestingRule(limits: PayloadLimits): string[] {
  return Number.isFinite(limits.jsonDepth) ? [`JSON may be nested at most ${limits.jsonDepth} levels deep.`] : [];
}
