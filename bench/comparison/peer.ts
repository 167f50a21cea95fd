import type { Publisher, Step } from "./generator.ts";
import { mark } from "./generator.ts";

/** What is stored before the answer: nothing but in memory, on disk but not flushed, or flushed. */
export type Durability = "in memory" | "on disk, not flushed" | "flushed";

/** A server that is compared, running. */
export type Compared = {
  name: string;
  version: string;
  /** How messages are stored before the answer. */
  durability: Durability;
  /** The settings that matter, as they are given to it. */
  settings: string;
  port: number;
  /** Its processes, which are pinned together with all that they start. */
  pids: readonly number[];
  /**
   * What opens a connection that hears the channel, for each of so many listeners. A server without them is compared by its
   * sends only.
   */
  listeners?(count: number): Promise<(readonly Step[])[]> | (readonly Step[])[];
  publisher: Publisher;
  stop(): Promise<void>;
};

/** Starts a server with its files in a folder; `undefined` if it is not installed, after a line that says so. */
export type StartCompared = (folder: string) => Promise<Compared | undefined>;

/** The message of every figure, like the bench's: 100 characters of text, one parameter. */
export const text = `${mark} The quick brown fox jumps over the lazy dog, and then it does so once more.`.slice(0, 100);

/** The message as JSON, for servers that take any. */
export const payload = JSON.stringify({ from: "sender", cid: "hall", body: text, x: { kind: "note" } });
