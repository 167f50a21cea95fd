import type { Explanation } from "../errors/explanations.ts";
import { type CloseReason, closeCodes } from "./close-codes.ts";

/** The close code of a connection that ended without a close frame (RFC 6455, section 7.1.5). Nobody sends it. */
export const abnormalClosure = 1006;

/** The explanation of every reason to close a WebSocket, and of a connection that ends without one. */
export const closeExplanations: Record<CloseReason | "dropped", Explanation> = {
  logged_out: {
    meaning: "The client sent `user_logout`, and Herald has ended its session.",
    causes: ["The user has signed out in the app."],
    remedies: ["Stay disconnected. Connect again with a new token when the user signs in."],
  },
  going_away: {
    meaning: "The other end goes away: a server that stops, or a browser that leaves the page.",
    causes: [
      "A proxy between the client and Herald is restarted.",
      "Seen from the server: the user has closed the page.",
    ],
    remedies: ["Reconnect with `since`, after a random wait."],
  },
  restarting: {
    meaning: "This node stops. It closes its connections one after another, so that not all clients return at once.",
    causes: [
      "The server is being upgraded or restarted.",
      "The node lost its place in the log, and asks its clients to join anew.",
    ],
    remedies: ["Reconnect with `since`: another node, or the same one later, replays what was missed."],
  },
  closed: {
    meaning: "Somebody closed this one connection with `DELETE …/connections/{connection_id}`, or in the console.",
    causes: ["An administrator wants the client to connect anew, for example to another node."],
    remedies: [
      "Reconnect with `since`.",
      "To keep a user away, block the user or revoke the sessions instead: that closes with 4403.",
    ],
  },
  frame_too_large: {
    meaning: "The client sent a frame that is larger than the server accepts.",
    causes: ["A request exceeds `HERALD_LIMIT_FRAME_BYTES`, 64 KiB by default."],
    remedies: [
      "Send smaller requests: ask for fewer ids at once.",
      "Do not repeat the frame after reconnecting; it would end the connection again.",
    ],
  },
  internal: {
    meaning: "Something went wrong on the server while it handled this connection.",
    causes: [
      "The database or the bus did not answer while the client connected.",
      "A fault in Herald; its cause is in the log of the node.",
    ],
    remedies: ["Reconnect with `since`. Wait longer after each failed attempt."],
  },
  protocol_error: {
    meaning:
      "The client sent what no client should send. Most frames that Herald cannot read are only answered with an error; these end the connection.",
    causes: ["A frame is binary instead of text.", "A `connect` on an open connection has a token of another user."],
    remedies: [
      "Do not reconnect; correct the client.",
      "Compare its frames with [those of this page](/docs/realtime), or use the SDK.",
    ],
  },
  bad_token: {
    meaning: "Herald does not accept the user token, or no longer: a session ends when its token expires.",
    causes: [
      "The token has expired, is signed with another secret, or belongs to sessions that were revoked.",
      "The device slept, and the client did not renew its token in time.",
    ],
    remedies: [
      "Get a fresh token from your backend, and connect with it.",
      "Renew the token when the server sends `session`, and the connection stays.",
      "After a few refusals in a row, stop and let the user sign in.",
    ],
  },
  removed: {
    meaning: "The user may not be here any more.",
    causes: ["The user was deleted or blocked.", "The session was revoked while the connection was open."],
    remedies: [
      "Do not reconnect. Sign the user out in the app.",
      "If it was a mistake, unblock the user, and let the app get a new token.",
    ],
  },
  origin_forbidden: {
    meaning: "A web page of an origin that is not allowed has opened the socket.",
    causes: [
      "The page's origin is neither the server's own nor in `HERALD_ALLOWED_ORIGINS`.",
      "The page was opened from a file, or is sandboxed: its origin is `null`.",
    ],
    remedies: ["Add the origin to `HERALD_ALLOWED_ORIGINS`, restart, and load the page again."],
  },
  connect_timeout: {
    meaning: "The client opened a socket and did not send `connect` within 10 seconds.",
    causes: [
      "The app waited for its token after it had opened the socket.",
      "The network is so slow that the frame did not arrive in time.",
    ],
    remedies: ["Get the token first, then open the socket and send `connect` at once. Reconnect after a wait."],
  },
  too_many: {
    meaning: "A limit is used up. The close reason names it in brackets, and says when to come back.",
    causes: [
      "The client sent more than `HERALD_LIMIT_REQUESTS_PER_CONNECTION` requests within a minute.",
      "The user or the address has too many connections open, often from a client that opens one for each page.",
      "Very many clients connect at the same moment, and Herald spreads them over some seconds.",
    ],
    remedies: [
      "Wait as long as the reason says (`retry in 5 s`), plus a random time of up to the same length; the SDK does.",
      "Keep one connection per device, and close it when it is no longer needed.",
    ],
  },
  dropped: {
    meaning:
      "The connection ended without a close frame. The client's WebSocket library reports 1006; no server sends it.",
    causes: [
      "The network broke off, the device slept, or the address changed.",
      "The client did not answer Herald's pings in time.",
      "The client read too slowly: what waited for it exceeded `HERALD_LIMIT_CONNECTION_BACKLOG_BYTES`.",
      "A proxy cut an idle or long connection, or does not pass on WebSockets at all.",
    ],
    remedies: [
      "Reconnect with `since`, after a random wait that grows with each failed attempt.",
      "If no connection ever opens, check that the proxy passes on `Upgrade`: see [configure](/docs/how-to/configure).",
      "If clients are dropped under load, let them read without waiting for what they do with each message.",
    ],
  },
};

/** The reasons that a close code stands for, in the order of the catalogue. */
export function reasonsOf(code: number): (keyof typeof closeExplanations)[] {
  if (code === abnormalClosure) return ["dropped"];
  const reasons = Object.keys(closeCodes) as CloseReason[];
  return reasons.filter((reason) => closeCodes[reason].code === code);
}
