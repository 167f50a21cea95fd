import { HeraldError } from "../../contract/errors/errors.ts";

/** Which pages in browsers may connect. */
export type Origins = {
  /** Throws `origin_forbidden` for a page of an origin that is neither the server's own nor allowed. */
  require(request: Request): void;
  /** The headers by which a page of an allowed origin may read the answer (Fetch standard, section 3.3). */
  corsHeaders(request: Request): Record<string, string>;
};

const exposedHeaders = "Herald-Recovered, Retry-After, X-Request-Id";

/**
 * Browsers name the page's origin in `Origin`, which the page cannot change; other clients send none, and none is asked of them.
 * `allowed` holds origins such as `https://app.example.org`, or `*` for all. The server's own is the one of `Host`, whatever
 * the scheme: a proxy in front may have taken TLS off.
 */
export function createOrigins(allowed: ReadonlySet<string>): Origins {
  const isAllowed = (origin: string) => allowed.has("*") || allowed.has(origin);
  return {
    require(request) {
      const origin = request.headers.get("origin");
      if (origin === null || isAllowed(origin) || isOwn(origin, request.headers.get("host"))) return;
      throw new HeraldError(
        "origin_forbidden",
        "pages of this origin may not connect; HERALD_ALLOWED_ORIGINS lists those that may",
      );
    },
    corsHeaders({ headers }) {
      const origin = headers.get("origin");
      if (origin === null || !isAllowed(origin)) return {};
      return {
        "Access-Control-Allow-Origin": allowed.has("*") ? "*" : origin,
        "Access-Control-Expose-Headers": exposedHeaders,
        Vary: "Origin",
      };
    },
  };
}

/** The answer to a browser that asks whether a page of an allowed origin may open a stream; `undefined` for any other request. */
export function answerPreflight(request: Request, cors: Record<string, string>): Response | undefined {
  const { method, headers } = request;
  if (method !== "OPTIONS" || !headers.has("access-control-request-method") || cors.Vary === undefined)
    return undefined;
  return new Response(null, {
    status: 204,
    headers: {
      ...cors,
      "Access-Control-Allow-Methods": "GET",
      "Access-Control-Allow-Headers": "Authorization, Last-Event-ID, X-Request-Id",
      "Access-Control-Max-Age": "600",
    },
  });
}

function isOwn(origin: string, host: string | null): boolean {
  const page = URL.parse(origin);
  // Read with the page's scheme, so that both leave out the same default port.
  return page !== null && page.host !== "" && URL.parse(`${page.protocol}//${host}`)?.host === page.host;
}
