import type { Caller } from "../keys/permissions.ts";
import type { LineBlock } from "../transfer/imports.ts";

/** A request to send lines; `perSecond` is the pace that the caller asks for. The next block is taken when there is room. */
export type BatchWish = {
  caller: Caller;
  isDryRun: boolean;
  perSecond: number | undefined;
  blocks: AsyncGenerator<LineBlock, void>;
};

/** What a batch may ask of its call. */
export type BatchCall = {
  requestId: string;
  /**
   * Charges requests to the key, and to an organization: its own or, if the key has none, this one. Resolves once their
   * limits allow more; rejects with `rate_limited` if that takes longer than `withinMs`.
   */
  pay(cost: number, options: { org: string | undefined; withinMs: number }): Promise<void>;
  /** Checks again whether the key is valid; rejects if not. */
  permit(): Promise<void>;
  /** Records the call in the audit log. */
  record(counts: BatchCounts): Promise<void>;
};

/** What came of the lines of a batch, blank ones left out. `organization`: the only one that lines were sent in. */
export type BatchCounts = {
  organization: string | undefined;
  lines: number;
  stored: number;
  replayed: number;
  failed: number;
};
