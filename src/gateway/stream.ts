import type { LogEvent } from "../contract/log-event.ts";
import type { Session } from "../services/sessions.ts";
import type { Connection } from "./connection.ts";
import type { Listener } from "./listeners.ts";
import type { Topics } from "./topics.ts";

const comfortableBytes = 256 * 1024;

/** A connection over server-sent events (WHATWG HTML, section 9.2). */
export type StreamConnection = Connection &
  Listener & {
    /** The body of the HTTP answer. */
    readonly body: ReadableStream<Uint8Array>;
    /** A comment line, which keeps the line warm and finds out dead peers. */
    comment(): void;
  };

type Options = {
  id: string;
  session: Session;
  topics: Topics;
  maxWaitingBytes: number;
  /** Called when it is cut while bytes wait for its reader. */
  onCut(): void;
  onClose(): void;
};

const encoder = new TextEncoder();

/** A stream that hands out what waits as fast as the client takes it, and is cut when more than `maxWaitingBytes` wait. */
export function createStreamConnection(options: Options): StreamConnection {
  const { id, session, topics, maxWaitingBytes, onCut, onClose } = options;
  const joined = new Set<string>();
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let isOpen = true;
  let onTaken: (() => void)[] = [];
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  const body = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
      },
      pull: handOver,
      cancel: close,
    },
    { highWaterMark: 1 },
  );

  /** Gives the stream what waits, once; without anything to give, the next `push` does. */
  function handOver(): void {
    if (waiting.length === 0 || controller === undefined || !isOpen) return;
    const taken = Buffer.concat(waiting);
    waiting = [];
    waitingBytes = 0;
    controller.enqueue(taken); // may pull again at once, so nothing of what it takes may still wait
    resume();
  }

  function resume(): void {
    const resumed = onTaken;
    onTaken = [];
    for (const take of resumed) take();
  }

  function push(text: string): void {
    if (!isOpen) return;
    const bytes = encoder.encode(text);
    waiting.push(bytes);
    waitingBytes += bytes.length;
    if ((controller?.desiredSize ?? 0) > 0) handOver();
    if (waitingBytes > maxWaitingBytes) connection.cut();
  }

  function close(): void {
    if (!isOpen) return;
    isOpen = false;
    waiting = [];
    waitingBytes = 0;
    for (const topic of joined) topics.removeStream(topic, listener);
    resume();
    onClose();
  }

  const listener = {
    deliver(event: LogEvent) {
      connection.deliver([event]);
      return waitingBytes > comfortableBytes;
    },
  };

  const connection: StreamConnection = {
    id,
    org: session.org,
    uid: session.uid,
    issuedAt: session.issuedAt,
    body,
    get isOpen() {
      return isOpen;
    },
    deliver(events) {
      for (const { kind, payload } of events)
        push(kind === "message" ? messageText(payload) : `event: system_message\ndata: ${payload}\n\n`);
    },
    async isReadyForMore() {
      while (isOpen && waitingBytes > comfortableBytes) await new Promise<void>((resolve) => onTaken.push(resolve));
      return isOpen;
    },
    subscribe(topic) {
      if (!isOpen) return;
      joined.add(topic);
      topics.addStream(topic, listener);
    },
    unsubscribe(topic) {
      joined.delete(topic);
      topics.removeStream(topic, listener);
    },
    end() {
      if (!isOpen) return;
      handOver();
      close();
      controller?.close();
    },
    cut() {
      if (!isOpen) return;
      if (waitingBytes > 0) onCut();
      close();
      controller?.error(new Error("the reader is too slow"));
    },
    waitingBytes: () => waitingBytes,
    comment: () => push(":\n\n"),
  };
  return connection;
}

/** The `id:` of a message is its `_id`; JSON text holds no line breaks, so one `data:` line is enough. */
function messageText(payload: string): string {
  const event: { message: { _id: string } } = JSON.parse(payload);
  return `event: message\nid: ${event.message._id}\ndata: ${payload}\n\n`;
}
