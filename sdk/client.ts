import type { Connection, Ending } from "./connection/connection.ts";
import { type MissedPage, readMissed } from "./connection/missed.ts";
import { createSeenIds } from "./connection/seen-ids.ts";
import { playSession, type SessionOptions, type Timing } from "./connection/session.ts";
import { globalWebSocket, type WebSocketConstructor, webSocketUrl } from "./connection/websocket.ts";
import { HeraldConnectionError } from "./errors.ts";

import type {
  ConversationSummary,
  ListedMessage,
  Message,
  MessageDelete,
  MessageEdit,
  MessageRead,
  SystemMessage,
} from "./types.ts";

import { createBackoff } from "./waiting/backoff.ts";
import { sleepUntilOnline } from "./waiting/network.ts";
import { returnWaitMs, tooMany } from "./waiting/return-wait.ts";
import { sleep } from "./waiting/timers.ts";

/**
 * `stopped`: not started, or stopped by the app. `connecting`: first attempt. `connected`. `reconnecting`: the connection was lost
 * or failed, and the client retries; after 4429, when the close reason says (`retry in N s`). `closed`: the server refused the
 * client for good, with a close code 44xx other than 4408 and 4429, or 4401 before the session was connected (later, 4401 only
 * means that the token expired). Call `start()` to try again.
 */
export type ClientState = "stopped" | "connecting" | "connected" | "reconnecting" | "closed";

/** Why the state changed. `retryInMs` is present while reconnecting. */
export type StateDetail = Partial<Ending> & { retryInMs?: number };

/** The options of a client. Callbacks are called in order of arrival and are not awaited. */
export type ClientOptions = {
  /** The server address, `http(s)` or `ws(s)`, with or without `/ws`. */
  url: string;
  /** Returns a user token. Called for each connection and before a session expires, so it should return a fresh token. */
  token: () => string | Promise<string>;
  /** A label of this device for the operator. */
  deviceId?: string | undefined;
  /** The `_id` of the last message that the app has. The client first receives the messages after it. */
  since?: string | undefined;
  /** A WebSocket implementation, such as that of the package `ws`. Required without a global WebSocket (Node before 22). */
  WebSocket?: WebSocketConstructor | undefined;
  /** Called once for each message, in order. `client.since` is then already its `_id`, which the app may save. */
  onMessage: (message: Message) => void;
  onSystemMessage: (message: SystemMessage) => void;
  /**
   * Called, in order among the messages, for each edit of a message, which may be one that the app does not have. After a
   * reconnect, an edit may be called again, which changes nothing.
   */
  onMessageEdit?: ((edit: MessageEdit) => void) | undefined;
  /** Called like `onMessageEdit` for each recall: the app removes those of the messages that it has. */
  onMessageDelete?: ((recall: MessageDelete) => void) | undefined;
  /** Called when a participant has read messages of this user. A read while the client is away is not made up for. */
  onMessageRead?: ((read: MessageRead) => void) | undefined;
  /** Called on every state change and, while reconnecting, after every failed attempt. */
  onStateChange?: ((state: ClientState, detail: StateDetail) => void) | undefined;
  /**
   * Called when messages after `since` may be missing and the server cannot replay them. `listMissed` reads them; edits and
   * recalls of older messages show only when the app reads those again. `since` is
   * `undefined` if the connection was lost before the first message.
   */
  onGap?: ((gap: { since: string | undefined }) => void) | undefined;
  /** Called when `token()` fails, the server refuses `connect`, a callback throws, or a frame cannot be read. */
  onError?: ((error: unknown) => void) | undefined;
  /** Timings, for tests and unusual networks. */
  timing?: Partial<Timing> | undefined;
};

/** A client that stays connected. Requests reject without a connection, when the connection is lost, and after 10 s. */
export type Client = {
  readonly state: ClientState;
  /** The `_id` of the last message that was delivered. */
  readonly since: string | undefined;
  start(): void;
  stop(): void;
  ping(): Promise<void>;
  listConversations(options?: { limit?: number; cursor?: string }): Promise<ConversationPage>;
  /** The history of a conversation, newest first, or oldest first with `after`. */
  listMessages(options: { cid: string; limit?: number; before?: string; after?: string }): Promise<ListedMessage[]>;
  /**
   * Reads the messages that a gap left out from the history of each conversation, in pages, newest first: `for await (const { cid,
   * messages } of client.listMissed(gap))`. Sort them in by `created_at`. Messages that were already delivered may be among them;
   * new ones still arrive through `onMessage`. Rejects if the connection is lost: start over with the same gap.
   */
  listMissed(gap: { since: string | undefined }): AsyncGenerator<MissedPage, void>;
  /**
   * Acknowledges messages and system messages by their `_id`, so that their delivery reports count this user. Resolves when the
   * acknowledgement is stored. Repeating it has no effect.
   */
  ack(ids: string | string[]): Promise<void>;
};

/** A page of the user's conversations. `cursor` is `null` on the last page. */
export type ConversationPage = { conversations: ConversationSummary[]; cursor: string | null };

const defaultTiming: Timing = {
  requestTimeoutMs: 10_000,
  heartbeatMs: 30_000,
  minBackoffMs: 250,
  maxBackoffMs: 15_000,
  stableAfterMs: 10_000,
  tooManyMs: 5_000,
};
/** More than a server replays at once (1,000), so that the client recognizes every duplicate. */
const rememberedIds = 2_000;
/** The maximum that a server accepts in one request. */
const idsPerAck = 100;

/** Creates a client that connects as a user, stays connected, and delivers each message once and in order. */
export function createClient(options: ClientOptions): Client {
  const url = webSocketUrl(options.url);
  const WebSocket = options.WebSocket ?? globalWebSocket();
  const timing = { ...defaultTiming, ...options.timing };
  const backoff = createBackoff({ minMs: timing.minBackoffMs, maxMs: timing.maxBackoffMs });
  const seenMessages = createSeenIds(rememberedIds);
  const seenSystemMessages = createSeenIds(rememberedIds);
  let state: ClientState = "stopped";
  let since = options.since;
  let hasConnected = false;
  let connectedAt: number | undefined;
  let connection: Connection | undefined;
  let running: AbortController | undefined;

  /** Calls a callback. An error that it throws must neither break the connection nor vanish: it goes to `onError`, or is thrown uncaught. */
  function call(callback: () => void) {
    try {
      callback();
    } catch (error) {
      if (options.onError === undefined) throwUncaught(error);
      else onError(error);
    }
  }

  function onError(error: unknown) {
    try {
      options.onError?.(error);
    } catch (cause) {
      throwUncaught(cause);
    }
  }

  function setState(next: ClientState, detail: StateDetail = {}) {
    state = next;
    call(() => options.onStateChange?.(next, detail));
  }

  const onEvent: SessionOptions["onEvent"] = (event) => {
    switch (event.kind) {
      case "message":
        if (!seenMessages.add(event.message._id)) return;
        since = event.message._id;
        return call(() => options.onMessage(event.message));
      case "system_message":
        // Two senders may use the same id, so the key includes the sender. No identifier contains U+0000.
        if (!seenSystemMessages.add(`${event.message.from}\u0000${event.message._id}`)) return;
        return call(() => options.onSystemMessage(event.message));
      case "message_edit":
        return call(() => options.onMessageEdit?.(event.edit));
      case "message_delete":
        return call(() => options.onMessageDelete?.(event.recall));
      case "message_read":
        return call(() => options.onMessageRead?.(event.read));
    }
  };

  function onConnected(opened: Connection, answer: Record<string, unknown>, askedSince: string | undefined) {
    // Without `since` the server replays nothing. After a disconnect that is a gap, too, whether or not anything was sent.
    const isGap = answer.recovered === false || (answer.recovered === undefined && hasConnected);
    hasConnected = true;
    connectedAt = performance.now();
    connection = opened;
    setState("connected");
    if (isGap) call(() => options.onGap?.({ since: askedSince }));
  }

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { token, deviceId } = options;
      const sessionOptions = { url, WebSocket, token, deviceId, since, timing, signal, onConnected, onEvent, onError };
      const ending = await playSession(sessionOptions);
      if (signal.aborted) return;
      const hasExpired = ending.code === badToken && connection !== undefined;
      connection = undefined;
      if (connectedAt !== undefined && performance.now() - connectedAt >= timing.stableAfterMs) backoff.reset();
      connectedAt = undefined;
      if (isFinal(ending.code) && !hasExpired) {
        running = undefined;
        return setState("closed", ending);
      }
      const retryInMs = returnWaitMs(ending, backoff, timing);
      setState("reconnecting", { ...ending, retryInMs });
      // After 4429, wait as long as the server asked, even if the network comes back earlier.
      await (ending.code === tooMany ? sleep : sleepUntilOnline)(retryInMs, signal);
    }
  }

  function request(name: string, parameters: Record<string, unknown>): Promise<Record<string, unknown>> {
    if (connection !== undefined) return connection.request(name, parameters);
    return Promise.reject(new HeraldConnectionError(`The client is not connected (${state}).`));
  }

  const client: Client = {
    get state() {
      return state;
    },
    get since() {
      return since;
    },
    start() {
      if (running !== undefined) return;
      running = new AbortController();
      backoff.reset();
      setState("connecting");
      void run(running.signal);
    },
    stop() {
      if (state === "stopped") return;
      running?.abort();
      running = undefined;
      connection = undefined;
      connectedAt = undefined;
      setState("stopped");
    },
    async ping() {
      await request("ping", {});
    },
    async listConversations(page = {}) {
      const { conversations, cursor } = await request("conversation_list", page);
      return {
        conversations: Array.isArray(conversations) ? conversations : [],
        cursor: typeof cursor === "string" ? cursor : null,
      };
    },
    async listMessages(page) {
      const { messages } = await request("message_list", page);
      return Array.isArray(messages) ? messages : [];
    },
    listMissed: ({ since: after }) => readMissed({ ...client, isKnown: seenMessages.has }, after),
    async ack(ids) {
      const all = [ids].flat();
      for (let start = 0; start < all.length; start += idsPerAck)
        await request("ack", { ids: all.slice(start, start + idsPerAck) });
    },
  };
  return client;
}

function throwUncaught(error: unknown) {
  queueMicrotask(() => {
    throw error;
  });
}

/** The close code of a session whose token expired. The next connection gets a fresh token, so it may succeed. */
const badToken = 4401;

/** Whether a reconnect after this close code would be refused again. */
function isFinal(code: number): boolean {
  return code >= 4400 && code <= 4499 && code !== 4408 && code !== tooMany;
}
