/** Where a server is reached by WebSocket, for server-sent events, and, at `root`, by HTTP. */
export type Address = { webSocket: string; stream: string; root: string };

/**
 * Converts a server's `http(s)` or `ws(s)` address, with or without `/ws`, to its addresses. Keeps a leading path, for servers behind
 * a proxy. Refuses queries and credentials, because secrets in URLs end up in logs.
 */
export function addressOf(url: string): Address {
  const { protocol, search, hash, username, password, host, pathname } = new URL(url);
  const [, isSecure] = /^(?:http|ws)(s?):$/.exec(protocol) ?? [];
  if (isSecure === undefined || search + hash + username + password)
    throw new TypeError("url must begin with http(s): or ws(s):, without a query, a fragment or credentials");
  const base = `${isSecure}://${host}${pathname.replace(/\/+$|\/ws\/*$/, "")}`;
  return { webSocket: `ws${base}/ws`, stream: `http${base}/sse`, root: `http${base}` };
}
