/** The delivery guarantee of every connection, in Markdown. */
export const deliveryPromise =
  "Once a send returns 201, the message reaches every open connection of every participant exactly once, for as long as the connection stays open. Every connection receives the messages of an organization in the same order. After a disconnect, the client reconnects with the `_id` of the last message that it received and recovers what it missed. Across a reconnect, a client may receive the same `_id` again and must discard the duplicate.";

/** How recovery works on both channels, in Markdown. */
export const recovery =
  "With `since`, the server first replays what the client missed: every stored message of the user's conversations after the given one, in order. `recovered` is `false` if the gap is too large or the id is unknown; the client then pages through the history with `message_list`. System messages are replayed only if they were sent with `keep_days`; `message_read` never is.";

/** The two real-time channels: their paths and rules, in Markdown. */
export const realtimeChannels = {
  ws: {
    address: "/ws",
    title: "WebSocket",
    description:
      "Each text frame is a JSON object whose single top-level key is its type. A client must send `connect` with a user token within 10 seconds, unless the upgrade request carries `Authorization: Bearer <user token>`, which connects immediately. Each request gets exactly one response, with the same `id`. A user may have several connections. A web page may connect if its origin is the server's own or is listed in `HERALD_ALLOWED_ORIGINS`; sockets of other origins are closed with 4403, and `/sse` answers 403 `origin_forbidden`.",
  },
  sse: {
    address: "/sse",
    title: "Server-sent events",
    description:
      "For clients that only listen. The request carries `Authorization: Bearer <user token>`. `event` is the name of the event, such as `message`, `data` is the same JSON as on a WebSocket, and `id`, which only messages have, is the `_id`. `Last-Event-ID` works like `since`; clients that cannot set it, such as polyfills of `EventSource`, may use the query parameter `lastEventId`, which the header overrides. The heartbeat is a comment line.",
  },
} as const;

/** How a client reacts when its connection closes, in Markdown. */
export const closingRule =
  "A client reconnects on every close code except 44xx, and also on 4408 and 4429, and on 4401 if it can get a fresh token. It waits a little longer after each failed attempt. After 4429, it waits as long as the close reason says (`retry in N s`), plus a random delay of up to the same length. If a client reads too slowly, the server drops the connection without a close frame: the client sees 1006, reconnects, and recovers.";
