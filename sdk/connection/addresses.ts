/** Where a server is reached by WebSocket, for server-sent events, and, at `root`, by HTTP. */
export type Address = { webSocket: string; stream: string; root: string };

/**
 * Converts a server's `http(s)` or `ws(s)` address, with or without `/ws`, to its addresses. Keeps a leading path, for servers behind
 * a proxy. Refuses queries and credentials, because secrets in URLs end up in logs.
 */
export function addressOf(url: string): Address {
  // Anything else is no address, or has what must not be in one. The error does not repeat it, as it may have credentials.
  const [, isSecure, rest] = /^(?:http|ws)(s?):\/\/([^?#@]+)$/i.exec(url.trim()) ?? [];
  if (rest === undefined || !URL.canParse(`http://${rest}`))
    throw new TypeError(
      "url must be the server's address, such as http://127.0.0.1:7070, without a query, a fragment or credentials",
    );
  const { host, pathname } = new URL(`http${isSecure}://${rest}`);
  const base = `${isSecure}://${host}${pathname.replace(/\/+$|\/ws\/*$/, "")}`;
  return { webSocket: `ws${base}/ws`, stream: `http${base}/sse`, root: `http${base}` };
}
