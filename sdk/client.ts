import type { Client, ClientOptions, ClientState, StateDetail } from "./client-options.ts";
import { addressOf } from "./connection/addresses.ts";
import { type Connection, openSocket } from "./connection/connection.ts";
import { readMissed } from "./connection/missed.ts";
import { createSeenIds } from "./connection/seen-ids.ts";
import { playSession, type SessionOptions, type Timing } from "./connection/session.ts";
import { openStream } from "./connection/stream.ts";
import { globalWebSocket } from "./connection/websocket.ts";
import { HeraldConnectionError } from "./errors.ts";
import { createBackoff } from "./waiting/backoff.ts";
import { returnWaitMs, tooMany } from "./waiting/return-wait.ts";
import { sleep } from "./waiting/timers.ts";
import { isOffline, sleepUntilAwake } from "./waiting/wake.ts";

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
  const addresses = [options.url].flat().map(addressOf); // those that come after `address`
  let address = addresses.shift() ?? addressOf("");
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
  let transport: Client["transport"];
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

  const handlers: SessionOptions["handlers"] = {
    message(message) {
      if (!seenMessages.add(message._id)) return;
      since = message._id;
      call(() => options.onMessage(message));
    },
    system_message(message) {
      // Two senders may use the same id, so the key includes the sender. No identifier contains U+0000.
      if (seenSystemMessages.add(`${message.from}\u0000${message._id}`)) call(() => options.onSystemMessage(message));
    },
    message_edit: (edit) => call(() => options.onMessageEdit?.(edit)),
    message_delete: (recall) => call(() => options.onMessageDelete?.(recall)),
    message_read: (read) => call(() => options.onMessageRead?.(read)),
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
    let failures = 0; // addresses that failed since the last wait
    let unopened = 0; // WebSockets in a row that did not open
    while (!signal.aborted) {
      const { webSocket, stream } = address;
      const isStream = unopened > 1 && options.fallback !== false;
      unopened = isStream ? 0 : unopened + 1;
      const ending = await playSession({
        open: (opening) =>
          isStream ? openStream(stream, () => since, opening) : openSocket(webSocket, WebSocket, opening),
        token: options.token,
        deviceId: options.deviceId,
        since: () => since,
        timing,
        signal,
        onOpen() {
          unopened = 0;
        },
        onConnected(...connected) {
          transport = isStream ? "sse" : "websocket";
          onConnected(...connected);
        },
        handlers,
        onError,
      });
      if (signal.aborted) return;
      // A WebSocket that does not open may be blocked, or the server restarts; a stream is for the first case.
      if (unopened > 1 && options.fallback !== false && !isOffline()) continue;
      const wasConnected = connection !== undefined;
      connection = transport = undefined;
      if (connectedAt !== undefined && performance.now() - connectedAt >= timing.stableAfterMs) backoff.reset();
      connectedAt = undefined;
      if (isFinal(ending.code) && !(ending.code === badToken && wasConnected)) {
        running = undefined;
        return setState("closed", ending);
      }
      addresses.push(address);
      address = addresses.shift() ?? address;
      failures = wasConnected ? 0 : failures + 1;
      const isNextAtOnce = failures > 0 && failures <= addresses.length && ending.code !== tooMany;
      if (!isNextAtOnce) failures = 0;
      const retryInMs = isNextAtOnce ? 0 : returnWaitMs(ending, backoff, timing);
      setState(isOffline() ? "offline" : "reconnecting", { ...ending, retryInMs });
      // After 4429, wait as long as the server asked, even if the network comes back earlier.
      await (ending.code === tooMany ? sleep : sleepUntilAwake)(retryInMs, signal);
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
    get transport() {
      return transport;
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
      connection = transport = undefined;
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
