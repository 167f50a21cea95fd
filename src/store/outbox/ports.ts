import type { Problem } from "../../contract/errors/problem.ts";

/**
 * A committed send of the caller's: its place in the order, the id it is sent with, and the body of an operation as JSON text;
 * `undefined` if that is too long to be read.
 */
export type OutboxRow = { position: string; id: string; request: string | undefined };

/** What became of a row: sent, or refused with the reason. */
export type OutboxEnd = { row: OutboxRow; problem?: Problem };

/** The outbox in the caller's database. */
export type OutboxTable = {
  /** Up to `limit` organizations that have rows, from the first or after one, in the order of their names. */
  organizations(after: string | undefined, limit: number): Promise<string[]>;
  /**
   * Hands over the first rows of an organization, in their order, and removes those that have ended: the refused ones are kept
   * with their problem. Meanwhile no other node takes rows of the organization. Returns how many rows there were, or
   * `undefined` if another node is taking them. If it rejects, the rows are still there.
   */
  take(org: string, end: (rows: OutboxRow[]) => Promise<OutboxEnd[]>): Promise<number | undefined>;
  /** How long the oldest row has been waiting, in milliseconds; 0 if there is none. */
  oldestMs(): Promise<number>;
  /** Calls back after commits of new rows, at best, and after the connection was made again. */
  listen(onRows: () => void): void;
  close(): Promise<void>;
};
