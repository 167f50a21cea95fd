/** What holds on every connection, in Markdown. */
export const deliveryPromise =
  "A message that was answered with 201 reaches every connection that is and stays open for a participant, exactly once, and all messages of one organization arrive in one order on every connection. A connection that breaks recovers with the `_id` of the last message that it saw. Across a reconnect a client may see an `_id` again, and drops it.";

/** How recovery works on both channels, in Markdown. */
export const recovery =
  "`since` asks for what was missed: every stored message of the user's conversations after that one, in order, before anything newer. `recovered` is `false` when the gap is too large or the id is unknown; the client then pages with `message_list`. System messages are never replayed.";

/** The two ways to be online: where, and what holds there, in Markdown. */
export const realtimeChannels = {
  ws: {
    address: "/ws",
    title: "WebSocket",
    description:
      "Each text frame is one JSON object whose one top-level key names it. A client sends `connect` with a user token within 10 seconds; `Authorization: Bearer <user token>` on the upgrade connects at once. Each request is answered once, with its `id`. A user may have several connections. A page in a browser may connect if its origin is the server's own or one of `HERALD_ALLOWED_ORIGINS`; others get 403 `origin_forbidden`, on `/sse` too.",
  },
  sse: {
    address: "/sse",
    title: "Server-sent events",
    description:
      "For clients that only listen. The request carries `Authorization: Bearer <user token>`. `event` is `message` or `system_message`, `data` is the same JSON as on a WebSocket, `id` (on messages) is the `_id`; `Last-Event-ID` works as `since`. A comment line is the heartbeat.",
  },
} as const;

/** What a client does when its connection ends, in Markdown. */
export const closingRule =
  "A client reconnects on any code but 44xx, and on 4408 and 4429; it waits a little longer after each failure, and after 4429 as long as the reason says (`retry in N s`) and up to as long again. A connection that reads too slowly is cut without a close frame: the client sees 1006, reconnects, and recovers.";
