import packageJson from "../../../package.json" with { type: "json" };
import type { PayloadLimits } from "../limits.ts";

/** What Herald is and what all of its calls have in common, in Markdown: the documents and `/docs` say it in these words. */
export const about = {
  title: "Herald",
  version: packageJson.version,
  license: packageJson.license,
  tagline: "Messages, delivered as they are sent.",
  /** Herald in three sentences. */
  introduction:
    "Herald delivers messages to people while they are online. Your backend makes one HTTP call; Herald stores the message and hands it at once to every open connection of every participant of the conversation. A client that was away says which message it saw last and gets what it missed, in order.",
  authentication: "Every call under `/admin` carries an API key in the header `Admin-Api-Key`.",
  retries:
    "The `id` of a message identifies the send: the same id again gives the first answer again, with `Idempotent-Replayed: true`, and sends nothing twice. After 500, 503, 507 or no answer the outcome is unknown: retry with the same id.",
  strictness:
    "Unknown members are refused, so that a typo is never silently dropped; so are duplicate members and numbers that would change on the way.",
} as const;

/** Where a server with the default settings is reached. */
export const exampleHost = "localhost:7070";

/** The identifiers, times and texts of the whole contract, one rule a line, in Markdown. */
export const conventions = [
  "Identifiers are opaque strings of 1 to 128 characters without control characters, compared byte for byte. In a path they are percent-encoded.",
  "`t` is in Unix epoch seconds; `created_at` is ISO 8601 UTC with milliseconds.",
  "Text is any Unicode but U+0000, stored and delivered unchanged. Its length is counted in characters (code points).",
  "A list gives `cursor`, which asks for the next page, or `null` when there is none.",
  "Every answer carries `X-Request-Id`.",
] as const;

/** How deep JSON may be nested, in Markdown; nothing when that limit is lifted. */
export function nestingRule(limits: PayloadLimits): string[] {
  return Number.isFinite(limits.jsonDepth) ? [`JSON may be nested ${limits.jsonDepth} levels deep.`] : [];
}
