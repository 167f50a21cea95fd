import { asyncApiDocument } from "../../contract/asyncapi.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import { openApiDocument } from "../../contract/openapi.ts";
import type { Operations } from "../../contract/operations/all.ts";
import { referencePages } from "../../contract/reference/pages.ts";
import { type Bind, type Router, requestIdOf } from "../bind.ts";

/** What a node says of itself; a value other than `ok` says what is wrong. */
export type Readiness = () => Promise<Record<string, string>>;

const pageHeaders = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy":
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
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
      new Response(null, { status: 302, headers: { Location: "/docs", "X-Request-Id": requestIdOf(req.raw) } }),
  );
}
