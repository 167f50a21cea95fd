import { type Place, placePage } from "../../contract/documents/place.ts";
import script from "../../contract/documents/reference/page-script.js" with { type: "text" };
import stylesheet from "../../contract/documents/reference/style.css" with { type: "text" };
import { HeraldError } from "../../contract/errors/errors.ts";
import type { PackedTexts } from "../answers/packed-texts.ts";
import { answerFile } from "../answers/page-file.ts";
import { contentSecurityPolicy, hashSource, isolationHeaders } from "../answers/page-headers.ts";
import type { PlaceOf } from "../answers/places.ts";
import type { Call } from "../calls.ts";
import type { createDocuments } from "./documents.ts";

/** Answers with the page of `/docs` that is at `path`, below the base path. */
export type AnswerPage = (request: Request, call: Call, path: string) => Promise<Response>;

/** Pages use only their embedded stylesheet and script, and this server's search; no other page may frame or open them. */
const headers = {
  ...isolationHeaders,
  "Cache-Control": "no-cache",
  "Content-Security-Policy": contentSecurityPolicy({
    "script-src": `${hashSource(script)} 'self'`,
    "style-src": hashSource(stylesheet),
    "connect-src": "'self'",
    "require-trusted-types-for": "'script'", // the scripts write no markup
  }),
};

type Services = ReturnType<typeof createDocuments> & { placeOf: PlaceOf; packed: PackedTexts };

/** Creates what answers with pages, in HTML or in Markdown, for a reader where they read them. */
export function createPages({ documents, markdownPages, placeOf, packed }: Services): AnswerPage {
  return async (request, call, path) => {
    const isMarkdown = path.endsWith(".md");
    const written = (isMarkdown ? await markdownPages() : (await documents()).pages)[path];
    if (written === undefined) throw new HeraldError("not_found");
    const place = placeOf(request, call.from);
    const file = await packed.of(keyOf(path, place), () => ({
      type: isMarkdown ? "text/markdown; charset=utf-8" : "text/html; charset=utf-8", // RFC 7763
      text: placePage(written, place),
    }));
    return answerFile(request, call, file, isMarkdown ? markdownHeaders : headers);
  };
}

/** What a page in Markdown is sent with. Clients may keep it, and ask each time whether it is still the same (RFC 9111, section 5.2.2.4). */
export const markdownHeaders = {
  ...isolationHeaders,
  "Cache-Control": "no-cache",
  "Content-Security-Policy": contentSecurityPolicy({}),
};

/** The key of what is at `path` for readers at `place`, in full: the hash of an invented `Host` could be that of another. */
export function keyOf(path: string, place: Place): string {
  return JSON.stringify([path, place]);
}
