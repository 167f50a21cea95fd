import { forgetOldest } from "../../lib/caches/forget-oldest.ts";

/** Tells what is wrong with the head of a request, if anything. `bodyBytes`: the length of its body, as `bytesOfBody` reads it. */
export type HeadCheck = (request: Pick<Request, "url" | "headers">, bodyBytes: number) => string | undefined;

const mostDropped = 8 * 1024 * 1024;
const maxRemembered = 100;
const badHost =
  "the request has no valid `Host` header; send exactly one, with the host and port that the request goes to (RFC 9112, section 3.2)";
const badLength = "`Content-Length` is not one decimal number; send it once, or not at all (RFC 9112, section 6.3)";

/**
 * The length of a request's body in bytes: infinite if it is not declared by decimal digits. Bun joins repeated lines with
 * commas, so a length that is sent twice is no number.
 */
export function bytesOfBody(headers: Headers): number {
  const declared = headers.get("content-length");
  if (declared !== null) return /^\d{1,20}$/.test(declared) ? Number(declared) : Number.POSITIVE_INFINITY;
  return headers.has("transfer-encoding") ? Number.POSITIVE_INFINITY : 0;
}

/**
 * Whether the body may be too long to be read and dropped when its request is answered before its end, which Bun does
 * as fast as it comes, without an end if it has none. Then the connection is closed (RFC 9112, section 9.6).
 */
export function isTooLongToDrop(bodyBytes: number): boolean {
  return bodyBytes > mostDropped;
}

/**
 * Creates the check of what two programs could understand differently: `Host` and `Content-Length`. Once it has passed,
 * `new URL(request.url)` does not throw. Remembers valid hosts, as nearly all requests name the same few.
 */
export function createHeadCheck(): HeadCheck {
  const remembered = new Set<string>();

  function isValidHost(host: string): boolean {
    if (remembered.has(host)) return true;
    // White space is where Bun joined two lines. Bun leaves out the host of a URL if it cannot be one at all.
    if (/\s/.test(host) || !URL.canParse(`http://${host}/`)) return false;
    remembered.add(host);
    forgetOldest(remembered, maxRemembered);
    return true;
  }

  return ({ url, headers }, bodyBytes) => {
    const host = headers.get("host");
    if (host === null || !url.startsWith("http") || !isValidHost(host)) return badHost;
    return !Number.isFinite(bodyBytes) && headers.has("content-length") ? badLength : undefined;
  };
}
