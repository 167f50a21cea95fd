import type { ListedMessage } from "../types.ts";

const mostAtOnce = 100; // ids of one `message_list`

/**
 * Reads messages again, whose reactions events do not count, or whose pieces are missing: one request at a time, for all messages that were named since the
 * last one began. What cannot be read is read with the next update or reload.
 */
export function createRecounts<X>(
  read: (ids: string[]) => Promise<ListedMessage<X>[]>,
  show: (found: ListedMessage<X>[]) => void,
): (mid: string) => void {
  const waiting = new Set<string>();
  let isReading = false;

  async function readWaiting() {
    isReading = true;
    try {
      while (waiting.size > 0) {
        const ids = [...waiting].slice(0, mostAtOnce);
        for (const id of ids) waiting.delete(id);
        show(await read(ids));
      }
    } catch {
      waiting.clear();
    }
    isReading = false;
  }

  return (mid) => {
    waiting.add(mid);
    if (!isReading) void readWaiting();
  };
}

/** A message with the reactions of another copy of it, if there are some. */
export function withReactions<Message extends Pick<ListedMessage, "reactions">>(
  message: Message,
  { reactions }: Pick<ListedMessage, "reactions">,
): Message {
  const changed = { ...message };
  delete changed.reactions;
  return reactions ? { ...changed, reactions } : changed;
}
