import { createHash, timingSafeEqual } from "node:crypto";
import { HeraldError } from "../../contract/errors/errors.ts";
import type { Operations } from "../../contract/operations/all.ts";
import { isLoopbackAddress } from "../../lib/network/addresses.ts";
import { bearerToken } from "../../lib/network/bearer.ts";
import type { Bind } from "../bind.ts";

/** What `GET /metrics` shows, and the token that it asks for, if any. */
export type Metrics = { type: string; token: string | undefined; print(): Promise<string> };

/** What proxies add. A call that has one comes from elsewhere, whoever opened its connection. */
const addedByProxies = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

const closed =
  "without HERALD_METRICS_TOKEN the metrics are told to programs of the same machine only, and not through a proxy";

/**
 * The metrics of this node. With a token in the settings only who has that one sees them, and without one only who asks from
 * this machine: for all others there is nothing here.
 */
export function bindMetrics(bind: Bind, operations: Operations, { type, token, print }: Metrics): void {
  const expected = token === undefined ? undefined : digestOf(token);
  bind(operations.getMetrics, async ({ headers }, { address }) => {
    if (expected === undefined && !isFromHere(address, headers)) throw new HeraldError("not_found", closed);
    if (expected !== undefined && !timingSafeEqual(digestOf(bearerToken(headers) ?? ""), expected)) {
      throw new HeraldError("unauthorized", "send the token of HERALD_METRICS_TOKEN as `Authorization: Bearer`", {
        headers: { "WWW-Authenticate": "Bearer" },
      });
    }
    return { status: 200, body: await print(), contentType: type };
  });
}

function isFromHere(address: string, headers: Headers): boolean {
  return isLoopbackAddress(address) && !addedByProxies.some((name) => headers.has(name));
}

/** Digests are equally long, so that how long a comparison takes says nothing of the token. */
function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
