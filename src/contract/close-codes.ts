/** Why Herald closes a WebSocket. A client reconnects on any code but 44xx, and on 4408. */
export const closeCodes = {
  going_away: { code: 1001, meaning: "the server goes away", reconnects: true },
  restarting: { code: 1012, meaning: "the server restarts; reconnect with `since`", reconnects: true },
  frame_too_large: { code: 1009, meaning: "a frame was larger than the limit", reconnects: true },
  internal: { code: 1011, meaning: "something went wrong inside Herald", reconnects: true },
  protocol_error: { code: 4400, meaning: "a frame broke the protocol", reconnects: false },
  bad_token: { code: 4401, meaning: "the user token is bad or has expired", reconnects: false },
  removed: { code: 4403, meaning: "the session was revoked or the user removed", reconnects: false },
  connect_timeout: { code: 4408, meaning: "no `connect` in time", reconnects: true },
  too_many: { code: 4429, meaning: "too many connections or requests", reconnects: false },
} as const satisfies Record<string, { code: number; meaning: string; reconnects: boolean }>;

/** The name of a close code in the catalogue. */
export type CloseReason = keyof typeof closeCodes;
