import { searchScriptPath } from "../../contract/documents/reference/paths.ts";
import { HeraldError } from "../../contract/errors/errors.ts";
import type { PageFile } from "../answers/pack-file.ts";
import { answerFile } from "../answers/page-file.ts";
import { contentSecurityPolicy, isolationHeaders } from "../answers/page-headers.ts";
import type { Router } from "../call/exchange.ts";
import type { Call } from "../calls.ts";

/**
 * The pages under `/console` and their assets. A file is named by its path in the console's folder, as `index.html` or
 * `assets/index-1a2b3c.js`; names of assets change with their content.
 */
export type Pages = { find(name: string): Promise<PageFile | undefined> };

/** The addresses of pages and their files. A new page needs a line here and one in `src/server/console/bundle.ts`. */
const files = {
  "/console": "index.html",
  "/console/demo": "demo/index.html",
  [searchScriptPath]: "docs/search.js",
} as const;

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
  const serve = async (request: Request, call: Call, name: string, cacheControl: string): Promise<Response> => {
    const file = await find(name);
    if (file === undefined) throw new HeraldError("not_found");
    return answerFile(request, call, file, { ...headers, "Cache-Control": cacheControl });
  };
  for (const [path, name] of Object.entries(files))
    app.get(path, ({ req, env }) => serve(req.raw, env, name, "no-cache"));
  app.get("/console/assets/:file", ({ req, env }) =>
    serve(req.raw, env, `assets/${req.param("file")}`, `public, max-age=${365 * day}, immutable`),
  );
}
