const reconnects = "reconnects";
const staysAway = "does not reconnect";
const asksAgain = "tries again with a fresh token, a few times";
const obeys = "reconnects after the time that the close reason gives, such as `retry in 5 s`";

/** Why Herald closes a WebSocket, and how the client reacts. It reconnects on every code except 44xx; 4401, 4408 and 4429 are exceptions. */
export const closeCodes = {
  logged_out: { code: 1000, meaning: "the client sent `user_logout`", client: "connects again when the user wants to" },
  going_away: { code: 1001, meaning: "the server is shutting down", client: reconnects },
  restarting: { code: 1012, meaning: "the server is restarting; reconnect with `since`", client: reconnects },
  closed: { code: 1012, meaning: "an administrator closed the connection; reconnect with `since`", client: reconnects },
  frame_too_large: { code: 1009, meaning: "a frame exceeded the size limit", client: reconnects },
  internal: { code: 1011, meaning: "something went wrong inside Herald", client: reconnects },
  protocol_error: { code: 4400, meaning: "a frame violated the protocol", client: staysAway },
  bad_token: { code: 4401, meaning: "the user token is invalid or has expired", client: asksAgain },
  removed: { code: 4403, meaning: "the session was revoked, or the user was removed", client: staysAway },
  origin_forbidden: {
    code: 4403,
    meaning: "the page's origin is not in HERALD_ALLOWED_ORIGINS",
    client: staysAway,
  },
  connect_timeout: { code: 4408, meaning: "the client did not send `connect` in time", client: reconnects },
  too_many: { code: 4429, meaning: "too many connections or requests", client: obeys },
} as const satisfies Record<string, { code: number; meaning: string; client: string }>;

/** The name of a close code in the catalogue. */
export type CloseReason = keyof typeof closeCodes;
