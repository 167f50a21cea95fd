import type { Target } from "../attack.ts";
import { askWithoutEnd, requestOf } from "./pipeline.ts";
import type { Tally } from "./tally.ts";

/** A call of the admin API, with further lines of its head. */
export type Call = { method: string; path: string; body?: string | object; lines?: readonly string[] };

/** `withAllKeys`: sends use the tenant's eleven keys in turn, instead of the one that may do everything. */
type Pattern = { connections: number; withAllKeys?: boolean };

/** Calls with the tenant's key, one call at a time on each connection, as fast as responses come. */
export function call(
  { url, key, moreKeys }: Target,
  tally: Tally,
  { connections, withAllKeys = false }: Pattern,
  make: (turn: number) => Call,
): void {
  const keys = withAllKeys ? [key, ...moreKeys] : [key];
  askWithoutEnd({
    url,
    tally,
    connections,
    window: 1, // the server closes connections that send another request during one
    request(turn) {
      const { method, path, body, lines = [] } = make(turn);
      const isSend = method === "POST" && path === "/admin/message";
      const used = isSend ? (keys[turn % keys.length] ?? key) : key;
      return requestOf(url, method, path, { key: used, lines, ...(body !== undefined && { body }) });
    },
  });
}

/** Creates or changes something once, and counts the status as that of `what`. */
export async function put(
  { url, key }: Pick<Target, "url" | "key">,
  tally: Tally,
  what: string,
  path: string,
  body: object,
): Promise<void> {
  const headers = { "Admin-Api-Key": key, "Content-Type": "application/json" };
  const { status } = await fetch(url + path, { method: "PUT", headers, body: JSON.stringify(body) });
  tally.count(`${what} HTTP ${status}`);
}
