import { HeraldError } from "../../../src/contract/errors/errors.ts";
import type { Feeds } from "../../../src/services/feeds.ts";
import type { Link, Wire } from "./socket.ts";
import { pause } from "./time.ts";

const longestReadMs = 2_000;
const abnormalCode = 1006;
const normalCode = 1000;
/** The code that stands for the refusal of a cursor. */
export const tooOldCode = 410;

/** Where a feed is read to: a wire whose texts have cursors. */
export type FeedWire = Wire & {
  /** Called before the text that is at this cursor, or without one for an event that the feed does not show. */
  onCursor(cursor: string, name: string | undefined): void;
};

/** Opens a feed and reads it. A refusal of the cursor is reported as its end with 410. */
export function openFeed(feeds: Pick<Feeds, "open">, wire: FeedWire, org: string, after: string | undefined): Link {
  const abort = new AbortController();
  let isOver = false;

  function end(code: number): void {
    if (isOver) return;
    isOver = true;
    wire.onEnd(code);
  }

  function readBlock(block: string): void {
    const cursor = /^id: (.*)$/m.exec(block)?.[1];
    const name = /^event: (.*)$/m.exec(block)?.[1];
    const data = /^data: (.*)$/m.exec(block)?.[1];
    if (cursor !== undefined) wire.onCursor(cursor, name);
    if (data !== undefined) wire.onText(data);
  }

  async function read(body: ReadableStream<Uint8Array>): Promise<void> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let text = "";
    for (;;) {
      const { value } = await reader.read();
      if (value === undefined || isOver) return end(normalCode);
      const blocks = `${text}${decoder.decode(value, { stream: true })}`.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) readBlock(block);
      const ms = Math.min(longestReadMs, Math.floor(value.length / wire.bytesPerMs));
      if (ms > 0) await pause(ms);
    }
  }

  async function run(): Promise<void> {
    const wish = { org, filter: {}, after, address: "", signal: abort.signal };
    const asked = { pay: async () => undefined, permit: async () => undefined, onEnd: () => undefined };
    await read(await feeds.open({ ...wish, ...asked }));
  }

  run().catch((error: unknown) =>
    end(error instanceof HeraldError && error.code === "cursor_too_old" ? tooOldCode : abnormalCode),
  );
  return {
    cut() {
      abort.abort();
      end(abnormalCode);
    },
    orphan: () => end(abnormalCode),
  };
}
