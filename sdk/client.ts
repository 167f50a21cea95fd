import { callSafely, reportUnheard } from "./callbacks.ts";
import type { Client, ClientOptions, ClientState, StateDetail } from "./client-options.ts";
import { addressOf } from "./connection/addresses.ts";
import { type Connection, openSocket } from "./connection/connection.ts";
import type { createFiles } from "./connection/files.ts";
import { noteId, type Progress } from "./connection/progress.ts";
import type { Saved } from "./connection/saved.ts";
import { playSession, type SessionOptions, type Timing } from "./connection/session.ts";
import { globalWebSocket, type WebSocketConstructor } from "./connection/websocket.ts";
import { HeraldConnectionError } from "./errors.ts";
import type { CustomParameters } from "./types.ts";
import type { Typists } from "./typists.ts";
import { createLazyViews } from "./views/lazy-views.ts";
import { createBackoff } from "./waiting/backoff.ts";
import { badToken, returnWaitMs, tooMany } from "./waiting/return-wait.ts";
import { sleep } from "./waiting/timers.ts";
import { isOffline, sleepUntilAwake } from "./waiting/wake.ts";

const defaultTiming: Timing = {
  requestTimeoutMs: 10_000,
  heartbeatMs: 30_000,
  minBackoffMs: 250,
  maxBackoffMs: 15_000,
  stableAfterMs: 10_000,
  tooManyMs: 5_000,
  refusedTokenMs: 1_000,
};
/** The maximum that a server accepts in one request. */
const idsPerAck = 100;
/** So many tokens that are refused one after another are no accident. */
const mostRefusedTokens = 5;

/** Creates a client that connects as a user, stays connected, and delivers each message once and in order. */
export function createClient<X = CustomParameters>(options: ClientOptions<X>): Client<X> {
  const { fallback = true, store } = options;
  const addresses = [options.url].flat().map(addressOf); // those that come after `address`
  let address = addresses.shift() ?? addressOf("");
  const timing = { ...defaultTiming, ...options.timing };
  const backoff = createBackoff({ minMs: timing.minBackoffMs, maxMs: timing.maxBackoffMs });
  const progress: Progress = { since: options.since, ids: new Set() };
  let saved: Saved | undefined;
  let state: ClientState = "stopped";
  let user: unknown;
  let hasConnected = false;
  let connectedAt = 0;
  let connection: Connection | undefined;
  let transport: Client["transport"];
  let watched: { uid: string; callback: (activity: number) => void } | undefined;
  let running: AbortController | undefined;

  /** For what callbacks throw, which must not vanish. */
  const onThrown = options.onError ? onError : reportUnheard;
  const call = (callback: () => unknown) => void callSafely(callback, onThrown);

  function onError(error: unknown) {
    void callSafely(() => options.onError?.(error), reportUnheard);
  }

  function setState(next: ClientState, detail: StateDetail = {}) {
    state = next;
    call(() => options.onStateChange?.(next, detail));
  }

  const since = () => progress.since;

  function isNew(id: string): boolean {
    saved?.changed();
    return noteId(progress, id);
  }

  let typists: Promise<Typists> | undefined;

  const handlers: SessionOptions<X>["handlers"] = {
    message(message) {
      if (!isNew(message._id)) return;
      progress.since = message._id;
      call(() => views.current()?.handlers.message(message));
      call(() => options.onMessage?.(message));
      typists?.then(({ said }) => said(message), onError);
    },
    system_message(message) {
      // Two senders may use the same id, so the key includes the sender. No identifier contains U+0000.
      if (!isNew(`${message.from}\u0000${message._id}`)) return;
      call(() => views.current()?.handlers.system_message(message));
      call(() => options.onSystemMessage?.(message));
    },
    message_edit(edit) {
      call(() => views.current()?.handlers.message_edit(edit));
      call(() => options.onMessageEdit?.(edit));
    },
    message_append(piece) {
      call(() => views.current()?.handlers.message_append(piece));
      call(() => options.onMessageAppend?.(piece));
    },
    message_delete(recall) {
      call(() => views.current()?.handlers.message_delete(recall));
      call(() => options.onMessageDelete?.(recall));
    },
    system_message_delete(recall) {
      call(() => views.current()?.handlers.system_message_delete(recall));
      call(() => options.onSystemMessageDelete?.(recall));
    },
    message_reactions_update(update) {
      call(() => views.current()?.handlers.message_reactions_update(update));
      call(() => options.onMessageReactions?.(update));
    },
    message_read: (read) => call(() => options.onMessageRead?.(read)),
    system_message_read(read) {
      call(() => views.current()?.handlers.system_message_read(read));
      call(() => options.onSystemMessageRead?.(read));
    },
    typing(typing) {
      const { onTyping } = options;
      if (!onTyping) return; // few apps need it
      typists ??= import("./typists.ts").then(({ createTypists }) =>
        createTypists((told) => call(() => onTyping(told))),
      );
      typists.then(({ hear }) => hear(typing), onError);
    },
    last_activity(activities) {
      const { uid = "", callback } = watched ?? {};
      const activity = activities[uid];
      if (typeof activity === "number") call(() => callback?.(activity));
    },
  };

  function watch() {
    if (watched && connection) request("user_last_activity_subscribe", { id: watched.uid }).catch(onError);
  }

  const onConnected: SessionOptions<X>["onConnected"] = (opened, answer, askedSince) => {
    // Without `since` the server replays nothing. After a disconnect that is a gap, too, whether or not anything was sent.
    const isGap = !(answer.recovered ?? !(hasConnected || askedSince));
    hasConnected = true;
    connectedAt = performance.now();
    connection = opened;
    user = answer.user_id;
    setState("connected");
    if (connection !== opened) return; // the app has stopped the client
    views.reload(isGap);
    watch();
    if (isGap) call(() => options.onGap?.({ since: askedSince }));
  };

  async function readToken(): Promise<string> {
    const given: unknown = await options.token();
    const fresh = typeof given === "string" ? given.trim() : "";
    if (/^[!-~]+$/.test(fresh)) return fresh;
    throw (await import("./secrets.ts")).refuseSecret(given, "What token() returned"); // few apps need it
  }

  /** A user token, whose progress is loaded. */
  async function token(): Promise<string> {
    const fresh = await readToken();
    try {
      if (store) saved ??= (await import("./connection/saved.ts")).createSaved(progress, store, onError);
      saved?.begin(fresh);
    } catch (error) {
      onError(error);
    }
    return fresh;
  }

  function noStreams(error: unknown): undefined {
    onError(error);
  }

  async function run(signal: AbortSignal, WebSocket: WebSocketConstructor): Promise<void> {
    let failures = 0; // addresses that failed since the last wait
    let unopened = 0; // WebSockets in a row that did not open, or on which nothing arrived
    let refused = 0; // tokens in a row
    globalThis.addEventListener?.("pagehide", () => saved?.save(), { signal });
    while (!signal.aborted) {
      const { webSocket, stream } = address;
      // Few networks need it.
      const streams = unopened > 1 ? await import("./connection/stream.ts").catch(noStreams) : undefined;
      const tried = streams ? 0 : unopened + 1;
      let hasTried = false; // without a token, nothing is tried, which tells nothing about addresses or WebSockets
      const ending = await playSession({
        ...options,
        open(opening) {
          hasTried = true;
          unopened = tried;
          return streams ? streams.openStream(stream, since, opening) : openSocket(webSocket, WebSocket, opening);
        },
        token,
        since,
        timing,
        backoff,
        signal,
        onOpen() {
          unopened = 0;
        },
        onSilent() {
          unopened = tried;
        },
        onConnected(...connected) {
          transport = streams ? "sse" : "websocket";
          onConnected(...connected);
        },
        handlers,
        onError,
      });
      if (signal.aborted) return;
      // A WebSocket that does not open may be blocked, or the server restarts; a stream is for the first case.
      if (!fallback || isOffline()) unopened = 0;
      if (hasTried && unopened > 1) continue;
      const { code } = ending;
      const wasConnected = connection !== undefined;
      connection = transport = undefined;
      if (wasConnected && performance.now() - connectedAt >= timing.stableAfterMs) backoff.reset();
      if (wasConnected) refused = 0;
      else if (code === badToken) refused += 1;
      if (/^44(?!01|08|29)/.test(`${code}`) || refused >= mostRefusedTokens) {
        running = undefined;
        return setState("closed", ending);
      }
      if (hasTried) {
        addresses.push(address);
        address = addresses.shift() ?? address;
      }
      // Of several addresses, the others are tried before the client waits.
      const isAsked = code === tooMany || code === badToken;
      failures = wasConnected || isAsked || !hasTried || failures >= addresses.length ? 0 : failures + 1;
      const retryInMs = failures > 0 ? 0 : returnWaitMs(ending, backoff, { ...timing, refused });
      setState(isOffline() ? "offline" : "reconnecting", { ...ending, retryInMs });
      // The server asked for the wait after 4429, and a token that is refused needs it, even if the network comes back earlier.
      await (isAsked ? sleep : sleepUntilAwake)(retryInMs, signal);
    }
  }

  async function request(name: string, parameters: Record<string, unknown>): Promise<Record<string, unknown>> {
    if (connection) return await connection.request(name, parameters);
    throw new HeraldConnectionError(`The client is not connected (${state}).`);
  }

  let files: Promise<ReturnType<typeof createFiles>> | undefined;

  /** One promise for all: imports that begin together need not end together, and addresses would not share a request. */
  function readFiles() {
    const isStream = () => transport === "sse";
    files ??= import("./connection/files.ts") // few apps have files
      .then(({ createFiles }) => createFiles({ request, isStream, root: () => address.root, token: readToken }));
    files.catch(() => {
      files = undefined; // the next call tries again
    });
    return files;
  }

  const client: Client<X> = {
    get state() {
      return state;
    },
    get since() {
      return progress.since;
    },
    get transport() {
      return transport;
    },
    start() {
      if (running) return;
      const WebSocket = options.WebSocket ?? globalWebSocket();
      const mine = new AbortController();
      running = mine;
      backoff.reset();
      setState("connecting");
      void run(mine.signal, WebSocket); // nothing, if the app has stopped the client meanwhile
    },
    stop() {
      if (state === "stopped") return;
      running?.abort();
      running = connection = transport = undefined;
      saved?.save();
      typists?.then(({ stop }) => stop(), onError);
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
    fileUrl: async (fileId) => (await readFiles()).url(fileId),
    download: async (fileId, download = {}) => (await readFiles()).download(fileId, download),
    async *listMissed(gap) {
      const { readMissed } = await import("./connection/missed.ts"); // few apps need it
      yield* readMissed({ ...client, isKnown: (id) => progress.ids.has(id) }, gap.since);
    },
    async ack(ids) {
      const all = [ids].flat();
      while (all.length > 0) await request("ack", { ids: all.splice(0, idsPerAck) });
    },
    async markRead(cid, ids) {
      try {
        await request("message_read", { cid, ids });
        views.current()?.onRead(cid, ids);
      } catch (error) {
        views.current()?.onRead(cid, []); // the answer may be all that was lost
        throw error;
      }
    },
    async tellTyping(cid, status) {
      await request("typing", { cid, status });
    },
    async listInbox(page = {}) {
      const { system_messages: items } = await request("system_message_list", page);
      return Array.isArray(items) ? items : [];
    },
    async markInbox(marks = {}) {
      await request("system_message_read", marks);
    },
    presence(uid, callback) {
      const mine = { uid, callback };
      watched = mine;
      watch();
      return () => {
        if (watched !== mine) return;
        watched = undefined;
        if (connection) request("user_last_activity_unsubscribe", {}).catch(onError);
      };
    },
    conversation: (cid) => views.conversation(cid),
    get conversations() {
      return views.conversations;
    },
    get inbox() {
      return views.inbox;
    },
  };
  const views = createLazyViews<X>(client, () => user, onThrown);
  return client;
}
