import { callSafely, reportUnheard } from "../callbacks.ts";
import { createEventReader } from "../connection/event-reader.ts";
import { type Handlers, readFrame } from "../connection/frames.ts";
import type { HeraldApiError } from "../errors.ts";
import type {
  CustomParameters,
  Message,
  MessageAppend,
  MessageDelete,
  MessageEdit,
  MessageReactionsUpdate,
  MessageRead,
  SystemMessage,
  SystemMessageDelete,
  SystemMessageRead,
} from "../types.ts";
import { createBackoff } from "../waiting/backoff.ts";
import { type Failure, isUnknownOutcome } from "../waiting/retry.ts";
import { sleep } from "../waiting/timers.ts";
import { openStream, unreachable } from "./http.ts";

/** An event of a feed, exactly as received. */
export type FeedEvent =
  | {
      /** A message. */
      message: Message;
    }
  | {
      /** A system message. */
      system_message: SystemMessage;
    }
  | {
      /** An edit. */
      message_edit: MessageEdit;
    }
  | {
      /** A piece of an open message. */
      message_append: MessageAppend;
    }
  | {
      /** A recall. */
      message_delete: MessageDelete;
    }
  | {
      /** A recall of system messages. */
      system_message_delete: SystemMessageDelete;
    }
  | {
      /** A read. */
      message_read: MessageRead;
    }
  | {
      /** A user has seen or read system messages in the inbox. */
      system_message_read: SystemMessageRead;
    }
  | {
      /** A reaction. */
      message_reactions_update: MessageReactionsUpdate;
    };

/**
 * `connected`: the feed shows everything after its cursor. `reconnecting`: the feed was interrupted because of `error` and retries in
 * `retryInMs`; then it goes on where it was. With `uid`, it omits what is delivered until it is connected again.
 */
export type FeedState = "connected" | "reconnecting";

/** The options of a feed. */
export type FeedOptions = {
  /**
   * A cursor: the feed begins with the event after it. Cannot be combined with `uid`. If the server does not keep everything since,
   * the feed throws with the code `cursor_too_old`.
   */
  after?: string | undefined;
  /** Called with the cursor of the place where the feed begins, and with that of each event just before it is yielded. */
  onCursor?: ((cursor: string) => void) | undefined;
  /** Ends the feed without an error. */
  signal?: AbortSignal | undefined;
  /** Called on every state change and, while reconnecting, after every failed attempt. */
  onStateChange?: ((state: FeedState, detail: { error?: HeraldApiError; retryInMs?: number }) => void) | undefined;
  /** How long nothing may arrive, not even a heartbeat, before the feed counts as dead (default 90,000 ms). */
  silentMs?: number | undefined;
};

/** The events of a feed. */
export type Feed = AsyncGenerator<FeedEvent, void> & {
  /**
   * The cursor of the event yielded last, or of the place where the feed began; `undefined` before it is connected. Keep it together
   * with what the event changed, to go on from there with `after`.
   */
  readonly cursor: string | undefined;
};

/** How to connect a feed. */
export type FeedCall = Omit<Parameters<typeof openStream>[0], "url"> & {
  /** The address of the feed, after a cursor if there is one. */
  addressOf(after: string | undefined): string;
  /** Whether the feed can go on after a cursor. */
  isResumable: boolean;
  retries: number;
  minBackoffMs: number;
  maxBackoffMs: number;
};

const defaultSilentMs = 90_000;

/**
 * Yields the events of a feed until the caller stops. The first connection has as many retries as any call. Later, an interrupted
 * feed reconnects with backoff until the server refuses it. Throws `HeraldApiError`.
 */
export function watchFeed(call: FeedCall, options: FeedOptions): Feed {
  const place: Place = {
    cursor: options.after,
    move(cursor) {
      place.cursor = cursor;
      void callSafely(() => options.onCursor?.(cursor), reportUnheard);
    },
  };
  return Object.defineProperty(watch(call, options, place), "cursor", { get: () => place.cursor }) as Feed;
}

type Place = { cursor: string | undefined; move(cursor: string): void };

async function* watch(
  { addressOf, isResumable, ...call }: FeedCall,
  { after, signal, onStateChange, silentMs = defaultSilentMs }: FeedOptions,
  place: Place,
): AsyncGenerator<FeedEvent, void> {
  const backoff = createBackoff({ minMs: call.minBackoffMs, maxMs: call.maxBackoffMs, least: 0.5 });
  const isStopped = () => signal?.aborted === true;
  let hasConnected = false;
  const tell: NonNullable<typeof onStateChange> = (...change) =>
    void callSafely(() => onStateChange?.(...change), reportUnheard);
  for (let left = call.retries; !isStopped(); left -= 1) {
    const over = new AbortController();
    const end = () => over.abort();
    signal?.addEventListener("abort", end);
    let failure: Failure;
    try {
      const url = addressOf(isResumable ? place.cursor : after);
      const opened = await openStream({ ...call, url, signal: over.signal });
      if ("body" in opened) {
        hasConnected = true;
        backoff.reset();
        tell("connected", {});
        failure = yield* readFeed(opened.body, place, { url, silentMs, end });
      } else {
        failure = opened;
      }
    } finally {
      signal?.removeEventListener("abort", end);
      end();
    }
    if (isStopped()) return;
    const { error, retryAfterMs = 0, isFinal = false } = failure;
    const mayRetry = !isFinal && (error.status === 429 || isUnknownOutcome(error.status));
    if (!mayRetry || (!hasConnected && left <= 0)) throw error;
    const retryInMs = retryAfterMs + backoff.next();
    if (hasConnected) tell("reconnecting", { error, retryInMs });
    await sleep(retryInMs, signal);
  }
}

/** Yields the events of one stream until it ends, and returns why it ended. */
async function* readFeed(
  body: ReadableStream<Uint8Array>,
  place: Place,
  { url, silentMs, end }: { url: string; silentMs: number; end: () => void },
): AsyncGenerator<FeedEvent, Failure> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const events = createEventReader();
  const read: FeedEvent[] = [];
  const handlers: Handlers<CustomParameters> = {
    message: (message) => read.push({ message }),
    system_message: (system_message) => read.push({ system_message }),
    message_edit: (message_edit) => read.push({ message_edit }),
    message_append: (message_append) => read.push({ message_append }),
    message_delete: (message_delete) => read.push({ message_delete }),
    system_message_delete: (system_message_delete) => read.push({ system_message_delete }),
    message_read: (message_read) => read.push({ message_read }),
    system_message_read: (system_message_read) => read.push({ system_message_read }),
    message_reactions_update: (message_reactions_update) => read.push({ message_reactions_update }),
    session: () => undefined,
    last_activity: () => undefined,
    typing: () => undefined, // no feed has it
    response: () => undefined,
  };
  for (;;) {
    const watch = setTimeout(end, silentMs);
    try {
      const { value, done } = await reader.read();
      if (done) return unreachable(url, "the feed ended");
      clearTimeout(watch);
      for (const { data, id } of events.read(decoder.decode(value, { stream: true }))) {
        if (data !== undefined) readFrame(data, handlers);
        if (id !== undefined) place.move(id);
        yield* read.splice(0);
      }
    } catch (cause) {
      if (cause instanceof SyntaxError) return unreachable(url, "the feed cannot be read", cause);
      return unreachable(url, "the feed was interrupted", cause);
    } finally {
      clearTimeout(watch);
    }
  }
}
