import { createHash } from "node:crypto";
import { answerHeaders } from "../../contract/answer-headers.ts";
import { pagePaths } from "../../contract/documents/reference/layout.ts";
import stylesheet from "../../contract/documents/reference/style.css" with { type: "text" };
import type { PayloadLimits } from "../../contract/limits.ts";
import type { Operations } from "../../contract/operations/all.ts";
import { isKnown } from "../answers/byte-range.ts";
import { contentSecurityPolicy, isolationHeaders } from "../answers/page-headers.ts";
import type { Bind } from "../bind.ts";
import { type Answer, lengthForHead } from "../call/answer.ts";
import type { Router } from "../call/exchange.ts";
import { createDocuments, type Document } from "./documents.ts";

/** The health of a node: a check that is not `ok` says what is wrong, without necessarily affecting `isOk`. */
export type Health = { isOk: boolean; checks: Record<string, string> };

/** Checks whether a node is alive, and whether it accepts requests. */
export type HealthChecks = { liveness(): Promise<Health>; readiness(): Promise<Health> };

/** Pages run no scripts, load nothing, and use only their embedded stylesheet; no other page may frame or open them. */
const pageHeaders = {
  "Content-Type": "text/html; charset=utf-8",
  ...isolationHeaders,
  "Content-Security-Policy": contentSecurityPolicy({
    "style-src": `'sha256-${createHash("sha256").update(stylesheet).digest("base64")}'`,
  }),
};

type Services = {
  health: HealthChecks;
  limits: PayloadLimits;
  /** The path below which the server is reached; empty if it has a host of its own. */
  basePath: string;
};

/** Binds what is open to everyone: health, the documents, the reference pages. */
export function bindOpen(
  app: Router,
  bind: Bind,
  operations: Operations,
  { limits, basePath, health: { liveness, readiness } }: Services,
): void {
  const documents = createDocuments({ limits, basePath });
  const answer = ({ isOk, checks }: Health) => ({
    status: isOk ? 200 : 503,
    body: { status: isOk ? "ok" : "unavailable", checks },
  });
  bind(operations.getHealth, async () => answer(await liveness()));
  bind(operations.getReadiness, async () => answer(await readiness()));
  bind(operations.getOpenApi, async ({ headers }) => answerWith((await documents()).openApi, headers));
  bind(operations.getAsyncApi, async ({ headers }) => answerWith((await documents()).asyncApi, headers));

  for (const path of pagePaths) {
    const route = { method: "GET", path };
    app.get(path, async ({ req, env: call }) => {
      call.route = route;
      const { pages } = await documents();
      const { text, etag } = pages[path] ?? { text: "", etag: "" };
      const headers = { ...pageHeaders, ...validatorsOf(etag), "X-Request-Id": call.requestId };
      return isKnown(req.raw.headers, etag)
        ? new Response(null, { status: 304, headers })
        : new Response(text, { headers: { ...headers, ...lengthForHead(req.raw, text) } });
    });
  }
  app.get(
    "/",
    ({ env: { requestId } }) =>
      new Response(null, {
        status: 302,
        headers: { Location: `${basePath}/docs`, "X-Request-Id": requestId, ...answerHeaders },
      }),
  );
}

/** Lets clients keep a document, and ask each time whether it is still the same (RFC 9111, section 5.2.2.4). */
function validatorsOf(etag: string): Record<string, string> {
  return { ETag: etag, "Cache-Control": "no-cache" };
}

function answerWith({ text, etag }: Document, requested: Headers): Answer {
  const headers = validatorsOf(etag);
  return isKnown(requested, etag)
    ? { status: 304, headers }
    : { status: 200, body: text, contentType: "application/json", headers };
}
