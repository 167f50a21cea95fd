import type { WebSocketConstructor } from "../../sdk/connection/websocket.ts";
import { createClient } from "../../sdk/index.ts";
import { eventually, within } from "../harness/deadline.ts";

/** How a client listens: in a process of Bun's with WebSockets or behind a firewall that blocks them, or in a page in Chromium. */
export type Transport = "websocket" | "sse" | "page";

/** Who listens, and where. */
export type Place = {
  uid: string;
  transport: Transport;
  urls: string[];
  /** The user's conversations. */
  rooms: string[];
};

/** Messages as a client shows them, by their ids, in order. */
export type Shown = [id: string, text: string][];

/** What a client of the SDK gave to its app, and what the app then shows. */
export type Ledger = {
  uid: string;
  transport: Transport;
  /** Messages by their ids, in the order in which they came. */
  messages: string[];
  /** All events: messages, edits, recalls, reads. */
  deliveries: number;
  connections: number;
  gaps: number;
  /** Reason of the server, if the client was refused for good. */
  refusal: string | undefined;
  /** What an app shows that applies edits and recalls by itself. */
  shown: Shown;
  /** What the client's own view of each conversation shows; none without WebSockets. */
  views: [cid: string, shown: Shown][];
  /** Conversations whose count of unread messages differs from the server's. */
  wrongCounts: string[];
};

/** A client under test. `account` waits until it shows these messages. */
export type Listener = {
  untilConnected: Promise<void>;
  account(last: readonly string[], ms: number): Promise<Ledger>;
  stop(): void;
};

/** A client marks a conversation as read after so many messages. */
const messagesPerRead = 20;

/** A WebSocket behind a firewall that blocks WebSockets. */
const BlockedWebSocket: WebSocketConstructor = class {
  addEventListener(type: string, listener: (event: object) => void) {
    if (type === "close") queueMicrotask(() => listener({ code: 1006, reason: "" }));
  }

  send() {}
  close() {}
};

/** Connects with the client of the SDK and its default times. */
export function listen({ uid, transport, urls, rooms }: Place, token: () => string | Promise<string>): Listener {
  const hasViews = transport !== "sse";
  const figures = { deliveries: 0, connections: 0, gaps: 0 };
  const messages: string[] = [];
  const shown = new Map<string, string>();
  const waiting = new Map<string, () => void>();
  const connected = Promise.withResolvers<void>();
  let refusal: string | undefined;
  const client = createClient({
    url: urls,
    token,
    ...(transport === "sse" && { WebSocket: BlockedWebSocket }),
    onMessage({ _id, cid, body }) {
      figures.deliveries += 1;
      messages.push(_id);
      shown.set(_id, body);
      waiting.get(_id)?.();
      // It may fail, as the connection may break.
      if (hasViews && messages.length % messagesPerRead === 0) client.markRead(cid).catch(() => undefined);
    },
    onMessageEdit({ id, body }) {
      figures.deliveries += 1;
      if (shown.has(id)) shown.set(id, body);
    },
    onMessageDelete({ ids }) {
      figures.deliveries += 1;
      for (const id of ids) shown.delete(id);
    },
    onMessageRead() {
      figures.deliveries += 1;
    },
    onGap() {
      figures.gaps += 1;
    },
    onStateChange(state, { code, reason }) {
      if (state === "closed") refusal = `${code} ${reason}`;
      if (state !== "connected") return;
      figures.connections += 1;
      connected.resolve();
    },
    onError: () => undefined,
  });
  const views = hasViews ? rooms.map((cid) => client.conversation(cid)) : [];
  for (const view of views) view.subscribe(() => undefined);
  client.start();

  const untilShown = (id: string) =>
    new Promise<void>((resolve) => {
      if (shown.has(id)) resolve();
      else waiting.set(id, resolve);
    });

  async function findWrongCounts(): Promise<string[]> {
    const { conversations } = await client.listConversations();
    const counted = new Map(
      client.conversations.getSnapshot().conversations.map((one) => [one._id, one.unread_messages_count]),
    );
    return conversations
      .filter((one) => counted.get(one._id) !== one.unread_messages_count)
      .map((one) => `${one._id}: ${counted.get(one._id)} instead of ${one.unread_messages_count}`);
  }

  /** Counts may be on their way. */
  async function settleCounts(ms: number): Promise<string[]> {
    let wrong: string[] = ["the counts cannot be read"];
    const areRight = async () => {
      wrong = await findWrongCounts().catch(() => wrong);
      return wrong.length === 0 || undefined;
    };
    await eventually(areRight, "the counts of unread messages", ms, 500).catch(() => undefined); // judged by `wrong`
    return wrong;
  }

  return {
    untilConnected: connected.promise,
    async account(last, ms) {
      // Whoever does not hear the last message is judged by what is missing.
      await within(Promise.all(last.map(untilShown)), "the last messages", ms).catch(() => undefined);
      const wrongCounts = hasViews ? await settleCounts(10_000) : [];
      return {
        uid,
        transport,
        messages,
        ...figures,
        refusal,
        shown: [...shown],
        views: views.map((view) => [view.cid, view.getSnapshot().messages.map(({ _id, body }) => [_id, body])]),
        wrongCounts,
      };
    },
    stop: () => client.stop(),
  };
}
