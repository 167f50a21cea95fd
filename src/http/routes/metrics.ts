import { createHash, timingSafeEqual } from "node:crypto";
import { HeraldError } from "../../contract/errors/errors.ts";
import type { Operations } from "../../contract/operations/all.ts";
import { isLoopbackAddress } from "../../lib/network/addresses.ts";
import { bearerToken } from "../../lib/network/bearer.ts";
import type { Bind } from "../bind.ts";

/** The content of `GET /metrics`, and the token it requires, if any. */
export type Metrics = { type: string; token: string | undefined; print(): Promise<string> };

/** Headers that proxies add: a call with one of them comes from elsewhere, whoever opened the connection. */
const addedByProxies = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

const closed =
  "without HERALD_METRICS_TOKEN, the metrics are available only at the internal address (HERALD_ADMIN_PORT) and to programs on the same machine, and not through a proxy";

/**
 * Binds the metrics of this node. They are visible only with the configured token, or if there is none, only from this
 * machine and at the internal address; to all others the route does not exist.
 */
export function bindMetrics(bind: Bind, operations: Operations, { metrics }: { metrics: Metrics }): void {
  const { type, token, print } = metrics;
  const expected = token === undefined ? undefined : digestOf(token);
  bind(operations.getMetrics, async ({ headers }, call) => {
    const { address, listener } = call();
    if (expected === undefined && listener !== "internal" && !isFromHere(address, headers))
      throw new HeraldError("not_found", closed);
    if (expected !== undefined && !timingSafeEqual(digestOf(bearerToken(headers) ?? ""), expected)) {
      throw new HeraldError("unauthorized", "send the value of HERALD_METRICS_TOKEN as `Authorization: Bearer …`", {
        headers: { "WWW-Authenticate": "Bearer" },
      });
    }
    return { status: 200, body: await print(), contentType: type };
  });
}

function isFromHere(address: string, headers: Headers): boolean {
  return isLoopbackAddress(address) && !addedByProxies.some((name) => headers.has(name));
}

/** Digests have equal lengths, so the time of a comparison reveals nothing about the token. */
function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
