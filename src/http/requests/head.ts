import { forgetOldest } from "../../lib/caches/forget-oldest.ts";

/** Tells what is wrong with the head of a request, if anything. `bodyBytes`: the length of its body, as `bytesOfBody` reads it. */
export type HeadCheck = (request: Pick<Request, "url" | "headers">, bodyBytes: number) => string | undefined;

const maxRemembered = 100;
const badHost =
  "the request has no valid `Host` header; send exactly one, with the host and port that the request goes to (RFC 9112, section 3.2)";
const badLength = "`Content-Length` is not one decimal number; send it once, or not at all (RFC 9112, section 6.3)";

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
