import type { ConversationSummary, Message } from "../types.ts";
import { sleep } from "../waiting/timers.ts";

/** Some messages of one conversation that a gap left out, newest first. */
export type MissedPage = { cid: string; messages: Message[] };

type Source = {
  listConversations(page: { limit: number; cursor?: string }): Promise<{
    conversations: ConversationSummary[];
    cursor: string | null;
  }>;
  listMessages(page: { cid: string; limit: number; before?: string }): Promise<Message[]>;
  /** Whether the message was delivered already. */
  isKnown(id: string): boolean;
};

const pageSize = 100;
const hurriedRequests = 40;
const pauseMs = 1_000;
/** Nodes have clocks of their own, so a message may bear an earlier time than one that was stored before it. */
const clocksDifferMs = 60_000;

/**
 * Reads what came after the message `since` from the history of each conversation, the most recently active first. Without a
 * `since` that a server made, all history: then leave the loop when it is enough. After the first requests it takes its time, since
 * a connection may send 120 in a minute.
 */
export async function* readMissed(source: Source, since: string | undefined): AsyncGenerator<MissedPage, void> {
  const fromMs = timeOf(since) - clocksDifferMs;
  const isNewer = (time: string) => Date.parse(time) >= fromMs;
  let requests = 0;
  const pace = async () => {
    if (requests++ >= hurriedRequests) await sleep(pauseMs);
  };

  async function* ofConversation(cid: string): AsyncGenerator<MissedPage, void> {
    for (let before: string | undefined; ; ) {
      await pace();
      const page = await source.listMessages({ cid, limit: pageSize, ...(before !== undefined && { before }) });
      const messages = page.filter(({ _id, created_at }) => isNewer(created_at) && !source.isKnown(_id));
      if (messages.length > 0) yield { cid, messages };
      const last = page.at(-1);
      if (last === undefined || page.length < pageSize || !isNewer(last.created_at)) return;
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

/** When a message was made that has such an id (UUID version 7, RFC 9562, section 5.7), in milliseconds; else the beginning of time. */
function timeOf(id: string | undefined): number {
  const [, high = "", low = ""] = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-/.exec(id ?? "") ?? [];
  return high === "" ? Number.NEGATIVE_INFINITY : Number.parseInt(high + low, 16);
}
