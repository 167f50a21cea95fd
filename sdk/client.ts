import type { Connection, Ending } from "./connection/connection.ts";
import { type MissedPage, readMissed } from "./connection/missed.ts";
import { createSeenIds } from "./connection/seen-ids.ts";
import { playSession, type SessionOptions, type Timing } from "./connection/session.ts";
import { globalWebSocket, type WebSocketConstructor, webSocketUrl } from "./connection/websocket.ts";
import { HeraldConnectionError } from "./errors.ts";
import type { ConversationSummary, Message, SystemMessage } from "./types.ts";
import { createBackoff } from "./waiting/backoff.ts";
import { sleepUntilOnline } from "./waiting/network.ts";
import { returnWaitMs, tooMany } from "./waiting/return-wait.ts";
import { sleep } from "./waiting/timers.ts";

/**
 * `stopped`: not started, or stopped by the app. `connecting`: first attempt. `connected`. `reconnecting`: lost, and
 * trying again, after 4429 when its reason says (`retry in N s`). `closed`: refused for good (a close code 44xx other than 4408 and
 * 4429; not 4401 of a session that was connected, which has only expired); `start()` tries again.
 */
export type ClientState = "stopped" | "connecting" | "connected" | "reconnecting" | "closed";

/** Why the state changed; `retryInMs` while reconnecting. */
export type StateDetail = Partial<Ending> & { retryInMs?: number };

/** What a client is made of. Callbacks are called in the order of arrival and are not awaited. */
export type ClientOptions = {
  /** Address of the server, `http(s)` or `ws(s)`, with or without `/ws`. */
  url: string;
  /** Gives a user token. Asked again for each connection and before a session expires, so return a fresh one. */
  token: () => string | Promise<string>;
  /** A label of this device for the operator. */
  deviceId?: string | undefined;
  /** `_id` of the last message that the app has; what came after it is delivered first. */
  since?: string | undefined;
  /** Where there is no global WebSocket (Node before 22): for example that of the package `ws`. */
  WebSocket?: WebSocketConstructor | undefined;
  /** Each message once, in order. `client.since` is already its `_id`, to be saved by the app if it likes. */
  onMessage: (message: Message) => void;
  onSystemMessage: (message: SystemMessage) => void;
  /** Called at each change, and while reconnecting again at each failed attempt. */
  onStateChange?: ((state: ClientState, detail: StateDetail) => void) | undefined;
  /**
   * Messages may be missing between `since` and what is delivered next, and the server cannot replay them: `listMissed` reads
   * them. `since` is `undefined` if the connection was lost before the first message.
   */
  onGap?: ((gap: { since: string | undefined }) => void) | undefined;
  /** What went wrong meanwhile: `token()` failed, `connect` was refused, a callback threw, a frame was unreadable. */
  onError?: ((error: unknown) => void) | undefined;
  /** Times, for tests and for unusual networks. */
  timing?: Partial<Timing> | undefined;
};

/** A connection that is kept up. Requests reject when there is no connection, when it breaks, and after 10 s. */
export type Client = {
  readonly state: ClientState;
  /** `_id` of the last message that was delivered. */
  readonly since: string | undefined;
  start(): void;
  stop(): void;
  ping(): Promise<void>;
  listConversations(options?: { limit?: number; cursor?: string }): Promise<ConversationPage>;
  /** Newest first; with `after`, oldest first. */
  listMessages(options: { cid: string; limit?: number; before?: string; after?: string }): Promise<Message[]>;
  /**
   * What a gap left out, read from the history of each conversation, newest first, in pages: `for await (const { cid, messages }
   * of client.listMissed(gap))`. Put each where it belongs by its `created_at`; a message that was seen before may be among
   * them, and one that arrives meanwhile comes by `onMessage`. Rejects when the connection breaks: begin again with the same gap.
   */
  listMissed(gap: { since: string | undefined }): AsyncGenerator<MissedPage, void>;
  /**
   * Acknowledges messages and system messages by their `_id`, so that their sender sees that this user has them. Resolves
   * when that is stored; the same twice does no harm.
   */
  ack(ids: string | string[]): Promise<void>;
};

/** One page of the user's conversations; `cursor` is `null` on the last one. */
export type ConversationPage = { conversations: ConversationSummary[]; cursor: string | null };

const defaultTiming: Timing = {
  requestTimeoutMs: 10_000,
  heartbeatMs: 30_000,
  minBackoffMs: 250,
  maxBackoffMs: 15_000,
  stableAfterMs: 10_000,
  tooManyMs: 5_000,
};
/** More than a server replays at once (1,000), so that a doubled message is always recognized. */
const rememberedIds = 2_000;
/** As many as a server takes at once. */
const idsPerAck = 100;

/** A client that receives: it connects, stays connected, and delivers each message once and in order. */
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

  /** A callback that throws must not break the connection, nor vanish: it goes to `onError`, or up as uncaught. */
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
    if (event.kind === "message") {
      if (!seenMessages.add(event.message._id)) return;
      since = event.message._id;
      call(() => options.onMessage(event.message));
    } else {
      // Two senders may use the same id, so the sender is part of it. U+0000 is in no identifier.
      if (!seenSystemMessages.add(`${event.message.from}\u0000${event.message._id}`)) return;
      call(() => options.onSystemMessage(event.message));
    }
  };

  function onConnected(opened: Connection, answer: Record<string, unknown>, askedSince: string | undefined) {
    // Without `since` the server replays nothing: after a break that is a gap too, whether or not anything was sent.
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
      // A network that is back is no reason to disregard what a server asked for.
      await (ending.code === tooMany ? sleep : sleepUntilOnline)(retryInMs, signal);
    }
  }

  function request(name: string, parameters: Record<string, unknown>): Promise<Record<string, unknown>> {
    if (connection !== undefined) return connection.request(name, parameters);
    return Promise.reject(new HeraldConnectionError(`There is no connection (${state}).`));
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

/** What a session is closed with that outlived its token. The next one asks for a fresh token, so it need not be refused again. */
const badToken = 4401;

/** Close codes after which a reconnect would meet the same answer. */
function isFinal(code: number): boolean {
  return code >= 4400 && code <= 4499 && code !== 4408 && code !== tooMany;
}
