import { HeraldError } from "../../contract/errors/errors.ts";
import { isKnown } from "../answers/byte-range.ts";
import { contentSecurityPolicy, isolationHeaders } from "../answers/page-headers.ts";
import { lengthForHead } from "../call/answer.ts";
import type { Router } from "../call/exchange.ts";
import type { Call } from "../calls.ts";

/** The content encodings of files. */
export type Encoding = "br" | "gzip" | "identity";

/** A file of the console, ready to be sent in each encoding. `etag` is that of its own bytes. */
export type PageFile = { type: string; etag: string; bytes: Record<Encoding, Uint8Array<ArrayBuffer>> };

/**
 * The pages under `/console` and their assets. A file is named by its path in the console's folder, as `index.html` or
 * `assets/index-1a2b3c.js`; names of assets change with their content.
 */
export type Pages = { find(name: string): Promise<PageFile | undefined> };

/** The addresses of pages and their files. A new page needs a line here and one in `src/server/console/bundle.ts`. */
const files = { "/console": "index.html", "/console/demo": "demo/index.html" } as const;

const day = 24 * 3600;

/** Allows scripts, styles and calls of this origin only, and pictures that the page has made or fetched itself; nothing inline, no `eval`, and no markup from strings. */
const headers = {
  ...isolationHeaders,
  "Content-Security-Policy": contentSecurityPolicy({
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data: blob:", // files come with the key, which only `fetch` sends
    "connect-src": "'self'",
    "require-trusted-types-for": "'script'",
  }),
  "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
};

/**
 * Binds the console and the demo page (docs/decisions/0030). They are open; the API they call requires a key or a
 * token.
 */
export function bindConsole(app: Router, { pages: { find } }: { pages: Pages }): void {
  const serve = async (
    request: Request,
    { requestId }: Call,
    name: string,
    cacheControl: string,
  ): Promise<Response> => {
    const file = await find(name);
    if (file === undefined) throw new HeraldError("not_found");
    const encoding = chooseEncoding(request.headers.get("accept-encoding"));
    const etag = etagOf(file, encoding);
    const common = {
      ...headers,
      "Cache-Control": cacheControl,
      ETag: etag,
      Vary: "Accept-Encoding",
      "X-Request-Id": requestId,
    };
    if (isKnown(request.headers, etag)) return new Response(null, { status: 304, headers: common });
    return new Response(file.bytes[encoding], {
      headers: {
        ...common,
        "Content-Type": file.type,
        ...lengthForHead(request, file.bytes[encoding]),
        ...(encoding !== "identity" && { "Content-Encoding": encoding }),
      },
    });
  };
  for (const [path, name] of Object.entries(files))
    app.get(path, ({ req, env }) => serve(req.raw, env, name, "no-cache"));
  app.get("/console/assets/:file", ({ req, env }) =>
    serve(req.raw, env, `assets/${req.param("file")}`, `public, max-age=${365 * day}, immutable`),
  );
}

/** Other bytes have another strong tag (RFC 9110, section 8.8.3.3). */
function etagOf({ etag }: PageFile, encoding: Encoding): string {
  return encoding === "identity" ? etag : `${etag.slice(0, -1)}-${encoding}"`;
}

/** The smallest encoding that `Accept-Encoding` allows (RFC 9110, section 12.5.3). */
function chooseEncoding(header: string | null): Encoding {
  const allowed = (header ?? "").split(",").flatMap((part) => {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    return parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) ? [] : [name];
  });
  return (["br", "gzip"] as const).find((encoding) => allowed.includes(encoding)) ?? "identity";
}
