import { type HeraldError, rateLimited } from "../contract/errors.ts";

/** What watches over all connections of a node need of one, whatever its transport. */
export type Listener = {
  /** Bytes that wait to be taken. */
  waitingBytes(): number;
  /** Ends it at once, without a word. */
  cut(): void;
};

/** While more than `maxBytes` wait in all, cuts the listeners that are the most behind. Returns how many were cut. */
export function cutMostBehind(listeners: Iterable<Listener>, maxBytes: number): number {
  const behind = [...listeners]
    .map((listener) => ({ listener, bytes: listener.waitingBytes() }))
    .filter(({ bytes }) => bytes > 0);
  let waiting = behind.reduce((sum, { bytes }) => sum + bytes, 0);
  if (waiting <= maxBytes) return 0;
  let count = 0;
  for (const { listener, bytes } of behind.sort((left, right) => right.bytes - left.bytes)) {
    if (waiting <= maxBytes) break;
    listener.cut();
    waiting -= bytes;
    count++;
  }
  return count;
}

/** The refusal of a stream to whom has as many connections as there may be. */
export function tooManyConnections(whose: "user" | "address", quota: number): HeraldError {
  const detail = `this ${whose} has too many connections; close one first`;
  return rateLimited({ detail, policy: `connections-per-${whose}`, quota, retryAfterSeconds: 5 });
}
