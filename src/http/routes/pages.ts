import { type Place, placePage } from "../../contract/documents/place.ts";
import script from "../../contract/documents/reference/page-script.js" with { type: "text" };
import stylesheet from "../../contract/documents/reference/style.css" with { type: "text" };
import { HeraldError } from "../../contract/errors/errors.ts";
import type { PackedTexts } from "../answers/packed-texts.ts";
import { answerFile } from "../answers/page-file.ts";
import { contentSecurityPolicy, hashSource, isolationHeaders } from "../answers/page-headers.ts";
import type { PlaceOf } from "../answers/places.ts";
import type { Call } from "../calls.ts";
import type { Documents } from "./documents.ts";

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

/** Creates what answers with pages, for a reader where they read them. */
export function createPages(documents: () => Promise<Documents>, placeOf: PlaceOf, packed: PackedTexts): AnswerPage {
  return async (request, call, path) => {
    const written = (await documents()).pages[path];
    if (written === undefined) throw new HeraldError("not_found");
    const place = placeOf(request, call.from);
    const file = await packed.of(keyOf(path, place), () => ({
      type: "text/html; charset=utf-8",
      text: placePage(written, place),
    }));
    return answerFile(request, call, file, headers);
  };
}

/** The key of what is at `path` for readers at `place`, in full: the hash of an invented `Host` could be that of another. */
export function keyOf(path: string, place: Place): string {
  return JSON.stringify([path, place]);
}
