import { createHash, timingSafeEqual } from "node:crypto";
import { HeraldError } from "../../contract/errors.ts";
import type { Operations } from "../../contract/operations/all.ts";
import type { Bind } from "../bind.ts";

/** What `GET /metrics` shows, and the token that it asks for, if any. */
export type Metrics = { type: string; token: string | undefined; print(): Promise<string> };

/** The metrics of this node. With a token in the settings only who has that one sees them. */
export function bindMetrics(bind: Bind, operations: Operations, { type, token, print }: Metrics): void {
  const expected = token === undefined ? undefined : digestOf(token);
  bind(operations.getMetrics, async ({ headers }) => {
    if (expected !== undefined && !timingSafeEqual(digestOf(tokenOf(headers)), expected)) {
      throw new HeraldError("unauthorized", "send the token of HERALD_METRICS_TOKEN as `Authorization: Bearer`", {
        headers: { "WWW-Authenticate": "Bearer" },
      });
    }
    return { status: 200, body: await print(), contentType: type };
  });
}

function tokenOf(headers: Headers): string {
  return /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1] ?? "";
}

/** Digests are equally long, so that how long a comparison takes says nothing of the token. */
function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
