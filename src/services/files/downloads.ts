type User = { org: string; uid: string };
type Abortable = Pick<Request, "signal">;

/** What users pay for files, and how many requests for files are at work at once. */
export type Downloads = {
  /** Resolves when a request from an address may be looked at. Rejects if the client has hung up meanwhile. */
  enter(address: string, request: Abortable): Promise<void>;
  /** Charges for asking for a file. Throws `rate_limited` if the user's budget is used up. */
  admit(user: User): void;
  /** Charges for the bytes of a file. */
  charge(user: User, bytes: number): void;
  /**
   * Resolves when a file may be opened for an organization, or for a key that belongs to none. Rejects if the client has hung up
   * meanwhile.
   */
  turn(name: string, request: Abortable): Promise<void>;
};
