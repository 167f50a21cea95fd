/** What can happen to a message. The order is that of what happened at the same time. */
export const stepKinds = [
  "sent",
  "delivered",
  "acknowledged",
  "grown",
  "edited",
  "reaction",
  "read",
  "seen",
  "recalled",
  "expired",
  "hook",
  "try",
  "audit",
] as const;

/** One thing that happened to a message, or several of the same kind. */
export type Step = {
  kind: (typeof stepKinds)[number];
  /** When it happened, in ISO 8601; of several, the first. */
  at: string;
  /** When the last of several happened. */
  until?: string;
  count: number;
  /** The users who did it, or to whom it happened. */
  uids: readonly string[];
  /** The keys of the calls that did it; `null` stands for a call without a valid key. */
  keys: readonly (string | null)[];
  /** What else is to be said, of several each once. */
  details: readonly string[];
  /** The webhook that it is about, by id. */
  webhook?: string;
  /** When it is tried again. */
  nextAt?: string;
  isBad?: boolean;
};
