import { createHash } from "node:crypto";
import { answerHeaders } from "../../contract/answer-headers.ts";
import { asyncApiDocument } from "../../contract/asyncapi.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import { openApiDocument } from "../../contract/openapi.ts";
import type { Operations } from "../../contract/operations/all.ts";
import { referencePages } from "../../contract/reference/pages.ts";
import { stylesheet } from "../../contract/reference/style.ts";
import { type Bind, type Router, requestIdOf } from "../bind.ts";
import { contentSecurityPolicy, isolationHeaders } from "../page-headers.ts";

/** What a node says of itself; a value other than `ok` says what is wrong. */
export type Readiness = () => Promise<Record<string, string>>;

/** Pages run no script, load nothing, and use the one stylesheet that they hold; no other page may frame or open them. */
const pageHeaders = {
  "Content-Type": "text/html; charset=utf-8",
  ...isolationHeaders,
  "Content-Security-Policy": contentSecurityPolicy({
    "style-src": `'sha256-${createHash("sha256").update(stylesheet).digest("base64")}'`,
  }),
};

/** What is open to everyone: health, the documents, the reference pages. */
export function bindOpen(
  app: Router,
  bind: Bind,
  operations: Operations,
  limits: PayloadLimits,
  readiness: Readiness,
): void {
  const openApi = openApiDocument(limits);
  const asyncApi = asyncApiDocument();
  bind(operations.getHealth, async () => ({ status: 200, body: { status: "ok", checks: {} } }));
  bind(operations.getReadiness, async () => {
    const checks = await readiness();
    const isReady = Object.values(checks).every((check) => check === "ok");
    return { status: isReady ? 200 : 503, body: { status: isReady ? "ok" : "unavailable", checks } };
  });
  bind(operations.getOpenApi, async () => ({ status: 200, body: openApi }));
  bind(operations.getAsyncApi, async () => ({ status: 200, body: asyncApi }));

  for (const [path, html] of Object.entries(referencePages(limits))) {
    app.get(
      path,
      ({ req }) => new Response(html, { headers: { ...pageHeaders, "X-Request-Id": requestIdOf(req.raw) } }),
    );
  }
  app.get(
    "/",
    ({ req }) =>
      new Response(null, {
        status: 302,
        headers: { Location: "/docs", "X-Request-Id": requestIdOf(req.raw), ...answerHeaders },
      }),
  );
}
