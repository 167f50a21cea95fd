/** The payload of a `membership` event. The event's `cid` is its conversation. */
export type MembershipChange = { added: string[]; removed: string[] };

/** The payload of a `session` event. It closes the connections of `uids`, or of the whole organization if `uids` is absent. */
export type SessionEnd = {
  uids?: string[];
  /** In milliseconds. Connections whose token was issued later stay open. */
  issuedBefore: number;
  /** Closes only the connections of the token with this `jti`. `issuedBefore` is then -1, so that older versions close none. */
  token?: string;
};
