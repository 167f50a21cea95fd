import { HeraldError } from "../../contract/errors/errors.ts";
import { isOrigin } from "../../lib/settings/kinds.ts";

/** The headers of streams and files that pages may read besides the safelisted ones (Fetch standard, section 2.2.2). */
const exposedHeaders = [
  ...["Accept-Ranges", "Allow", "Content-Disposition", "Content-Range", "ETag"],
  ...["Herald-Recovered", "RateLimit", "RateLimit-Policy", "Retry-After", "WWW-Authenticate", "X-Request-Id"],
].join(", ");

/**
 * What browsers, polyfills of `EventSource`, and libraries for downloads and traces add to a request. `Admin-Api-Key` is not among
 * them: a key in a page is public.
 */
const requestHeaders = [
  ...["Authorization", "Cache-Control", "Content-Type", "Expires", "If-Match", "If-Modified-Since", "If-None-Match"],
  ...["If-Range", "If-Unmodified-Since", "Last-Event-ID", "Pragma", "Range", "X-Request-Id", "X-Requested-With"],
  ...["traceparent", "tracestate", "baggage"],
].join(", ");

/**
 * Checks the `Origin` header, which browsers set and pages cannot change; other clients send none and need none.
 * `allowed` holds origins such as `https://app.example.org`, or `*` for all. The server's own origin is that of `Host`
 * with any scheme, as a proxy in front may terminate TLS. The error's message fits into a close reason.
 */
export function createOrigins(allowed: ReadonlySet<string>, onForbidden: (origin: string) => void) {
  const isAllowed = (origin: string) => allowed.has("*") || allowed.has(origin);
  return {
    /** Throws `origin_forbidden` for a page whose origin is neither the server's own nor allowed. */
    require(request: Request): void {
      const origin = request.headers.get("origin");
      if (origin === null || isAllowed(origin) || isOwn(origin, request.headers.get("host"))) return;
      onForbidden(origin);
      throw new HeraldError("origin_forbidden", reasonFor(origin));
    },
    /**
     * Throws `origin_forbidden` for a page whose origin is not allowed by name, also of the server's own: a page elsewhere whose name
     * leads to this server (DNS rebinding) looks like one.
     */
    requireAllowed(request: Request): void {
      const origin = request.headers.get("origin");
      if (origin === null || isAllowed(origin)) return;
      onForbidden(origin);
      throw new HeraldError("origin_forbidden", reasonFor(origin));
    },
    /** The headers that let a page of an allowed origin read the response (Fetch standard, section 3.3). */
    corsHeaders({ headers }: Request): Record<string, string> {
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

/** Decides which web pages may connect. */
export type Origins = ReturnType<typeof createOrigins>;

/** Answers the CORS preflight for a stream or a file from a page of an allowed origin; `undefined` for any other request. */
export function answerPreflight(request: Request, cors: Record<string, string>): Response | undefined {
  const { method, headers } = request;
  if (method !== "OPTIONS" || !headers.has("access-control-request-method") || cors.Vary === undefined)
    return undefined;
  return new Response(null, {
    status: 204,
    headers: {
      ...cors,
      "Access-Control-Allow-Methods": "GET",
      "Access-Control-Allow-Headers": requestHeaders,
      "Access-Control-Max-Age": "600",
    },
  });
}

function isOwn(origin: string, host: string | null): boolean {
  const page = URL.parse(origin);
  // Parsed with the page's scheme, so that both drop the same default port.
  return page !== null && page.host !== "" && URL.parse(`${page.protocol}//${host}`)?.host === page.host;
}

/** Why an origin is refused. Suggests the setting only for an origin that it accepts. */
function reasonFor(origin: string): string {
  if (!isOrigin(origin) && /^[!-~]{1,24}$/.test(origin))
    return `the page's origin ${origin} is not one that HERALD_ALLOWED_ORIGINS takes; serve it from a web address`;
  const name = /^[!-~]{1,64}$/.test(origin) ? ` ${origin}` : "";
  return `the page's origin${name} is not in HERALD_ALLOWED_ORIGINS`;
}
