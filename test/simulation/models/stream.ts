import type { Server } from "bun";
import type { createStreams } from "../../../src/gateway/streams/sse.ts";
import type { Link, Wire } from "./socket.ts";
import { pause } from "./time.ts";

const abnormalCode = 1006;
const normalCode = 1000;
const internalCode = 1011;
const unauthorizedCode = 4401;
const longestReadMs = 2_000;

type Options = {
  streams: ReturnType<typeof createStreams>;
  wire: Wire;
  token: string;
  since: string | undefined;
};

/**
 * Opens a server-sent event stream and reads it. Its HTTP response is reported like a socket's answer to `connect`, and
 * its end with the code that a socket would be closed with: 1000 when the body ends, as it cannot say why.
 */
export function openStream({ streams, wire, token, since }: Options): Link {
  const abort = new AbortController();
  let isOver = false;

  function end(code: number): void {
    if (isOver) return;
    isOver = true;
    wire.onEnd(code);
  }

  async function run(): Promise<void> {
    const request = new Request("http://herald/sse", {
      headers: { authorization: `Bearer ${token}`, ...(since !== undefined && { "last-event-id": since }) },
      signal: abort.signal,
    });
    const response = await streams.handle(request, server);
    if (isOver) return;
    if (response.status !== 200 || response.body === null) {
      wire.onText(JSON.stringify({ response: { error: { code: String(response.status) } } }));
      return end(response.status === 401 ? unauthorizedCode : internalCode);
    }
    const recovered = response.headers.get("herald-recovered");
    wire.onText(JSON.stringify({ response: recovered === null ? {} : { recovered: recovered === "true" } }));
    await read(response.body);
    end(normalCode);
  }

  async function read(body: ReadableStream<Uint8Array>): Promise<void> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let text = "";
    for (;;) {
      const { value } = await reader.read();
      if (value === undefined || isOver) return;
      const blocks = `${text}${decoder.decode(value, { stream: true })}`.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (data !== undefined) wire.onText(data);
      }
      const ms = Math.min(longestReadMs, Math.floor(value.length / wire.bytesPerMs));
      if (ms > 0) await pause(ms);
    }
  }

  run().catch(() => end(abnormalCode));
  return {
    cut() {
      abort.abort();
      end(abnormalCode);
    },
    orphan: () => end(abnormalCode),
  };
}

// The stream side uses nothing else of its server; any other call would throw, and fail the seed.
const server = { timeout: () => undefined, requestIP: () => null } as unknown as Server<unknown>;
