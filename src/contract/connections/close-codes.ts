const reconnects = "reconnects";
const staysAway = "stays away";
const obeys = "reconnects when the reason says, as in `retry in 5 s`";

/** Why Herald closes a WebSocket, and what its client does then. It reconnects on any code but 44xx, and on 4408 and 4429. */
export const closeCodes = {
  going_away: { code: 1001, meaning: "the server goes away", client: reconnects },
  restarting: { code: 1012, meaning: "the server restarts; reconnect with `since`", client: reconnects },
  frame_too_large: { code: 1009, meaning: "a frame was larger than the limit", client: reconnects },
  internal: { code: 1011, meaning: "something went wrong inside Herald", client: reconnects },
  protocol_error: { code: 4400, meaning: "a frame broke the protocol", client: staysAway },
  bad_token: { code: 4401, meaning: "the user token is bad or has expired", client: staysAway },
  removed: { code: 4403, meaning: "the session was revoked or the user removed", client: staysAway },
  connect_timeout: { code: 4408, meaning: "no `connect` in time", client: reconnects },
  too_many: { code: 4429, meaning: "too many connections or requests", client: obeys },
} as const satisfies Record<string, { code: number; meaning: string; client: string }>;

/** The name of a close code in the catalogue. */
export type CloseReason = keyof typeof closeCodes;
