import type { ConversationSummary, CustomParameters, ListedMessage } from "../types.ts";
import { sleep } from "../waiting/timers.ts";
import { isLastPage } from "./pages.ts";

/** Messages of one conversation that a gap left out, newest first. */
export type MissedPage<X = CustomParameters> = {
  /** The conversation. */
  cid: string;
  /** The messages, newest first. */
  messages: ListedMessage<X>[];
};

type Source<X> = {
  listConversations(page: { limit: number; cursor?: string }): Promise<{
    conversations: ConversationSummary[];
    cursor: string | null;
  }>;
  listMessages(page: { cid: string; limit: number; before?: string }): Promise<ListedMessage<X>[]>;
  /** Whether the message was already delivered. */
  isKnown(id: string): boolean;
};

const pageSize = 100;
const hurriedRequests = 40;
const pauseMs = 1_000;
/** Clocks of nodes differ, so a message may have an earlier time than one that was stored before it. */
const clocksDifferMs = 60_000;

/**
 * Reads the messages after `since` from the history of each conversation, most recently active first. If `since` is not an id that a
 * server assigned, it reads the whole history: leave the loop once you have enough. It slows down after the first requests, because
 * a connection may only send 120 per minute.
 */
export async function* readMissed<X>(
  source: Source<X>,
  since: string | undefined,
): AsyncGenerator<MissedPage<X>, void> {
  const fromMs = timeOf(since) - clocksDifferMs;
  const isNewer = (time: string) => Date.parse(time) >= fromMs;
  let requests = 0;
  const pace = async () => {
    if (requests++ >= hurriedRequests) await sleep(pauseMs);
  };

  async function* ofConversation(cid: string): AsyncGenerator<MissedPage<X>, void> {
    for (let before: string | undefined; ; ) {
      await pace();
      const page = await source.listMessages({ cid, limit: pageSize, ...(before !== undefined && { before }) });
      const messages = page.filter(({ _id, created_at }) => isNewer(created_at) && !source.isKnown(_id));
      if (messages.length > 0) yield { cid, messages };
      const last = page.at(-1);
      if (last === undefined || isLastPage(page, pageSize) || !isNewer(last.created_at)) return;
      before = last._id;
    }
  }

  for (let cursor: string | null | undefined; cursor !== null; ) {
    await pace();
    const page = await source.listConversations({ limit: pageSize, ...(cursor !== undefined && { cursor }) });
    const active = page.conversations.filter(({ updated_at }) => isNewer(updated_at));
    for (const { _id: cid } of active) yield* ofConversation(cid);
    cursor = active.length < page.conversations.length ? null : page.cursor;
  }
}

/** The creation time of a message in milliseconds, from its id (UUID version 7, RFC 9562, section 5.7), or -∞ for any other id. */
function timeOf(id: string | undefined): number {
  const [, high = "", low = ""] = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-/.exec(id ?? "") ?? [];
  return high === "" ? Number.NEGATIVE_INFINITY : Number.parseInt(high + low, 16);
}
