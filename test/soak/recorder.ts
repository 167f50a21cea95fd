import type { ClientOptions, ConversationPage } from "../../sdk/index.ts";
import { eventually, within } from "../harness/deadline.ts";

/**
 * How a client listens: in a process of Bun's, with WebSockets or behind a firewall that blocks them, or in a React page in
 * Chromium.
 */
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

/** What an app shows of the client's views, and how to ask the server what is right. */
export type Showing = {
  readViews(): [cid: string, shown: Shown][];
  /** The counts of unread messages, by conversations. */
  readCounts(): ReadonlyMap<string, number>;
  listConversations(): Promise<ConversationPage>;
};

/** An app that records what it is given. */
export type Recorder = {
  options: ClientOptions;
  untilConnected: Promise<void>;
  /** Waits until these messages are shown, and at most `ms`. */
  account(last: readonly string[], ms: number, showing: Showing | undefined): Promise<Ledger>;
};

/** A client marks a conversation as read after so many messages. */
const messagesPerRead = 20;
const countsWithinMs = 10_000;

/** Creates the options of a client. `onRead` is called when the user has read a conversation. */
export function createRecorder(
  { uid, transport, urls }: Place,
  token: () => string | Promise<string>,
  onRead: (cid: string) => void,
): Recorder {
  const figures = { deliveries: 0, connections: 0, gaps: 0 };
  const messages: string[] = [];
  const shown = new Map<string, string>();
  const waiting = new Map<string, () => void>();
  const connected = Promise.withResolvers<void>();
  let refusal: string | undefined;
  const options: ClientOptions = {
    url: urls,
    token,
    onMessage({ _id, cid, body }) {
      figures.deliveries += 1;
      messages.push(_id);
      shown.set(_id, body);
      waiting.get(_id)?.();
      if (messages.length % messagesPerRead === 0) onRead(cid);
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
  };

  const untilShown = (id: string) =>
    new Promise<void>((resolve) => {
      if (shown.has(id)) resolve();
      else waiting.set(id, resolve);
    });

  return {
    options,
    untilConnected: connected.promise,
    async account(last, ms, showing) {
      // Whoever does not hear the last message is judged by what is missing.
      await within(Promise.all(last.map(untilShown)), "the last messages", ms).catch(() => undefined);
      const wrongCounts = showing === undefined ? [] : await settleCounts(showing);
      const views = showing?.readViews() ?? [];
      return { uid, transport, messages, ...figures, refusal, shown: [...shown], views, wrongCounts };
    },
  };
}

/** The counts that differ from the server's, once they had time to arrive. */
async function settleCounts({ listConversations, readCounts }: Showing): Promise<string[]> {
  let wrong: string[] = ["the counts cannot be read"];
  const areRight = async () => {
    const page = await listConversations().catch(() => undefined);
    const counts = readCounts();
    const expected = page?.conversations.map(
      (one) => [one._id, one.unread_messages_count, counts.get(one._id)] as const,
    );
    wrong = expected?.filter(([, right, count]) => count !== right).map((one) => one.join(" ")) ?? wrong;
    return wrong.length === 0 || undefined;
  };
  await eventually(areRight, "the counts of unread messages", countsWithinMs, 500).catch(() => undefined); // judged by `wrong`
  return wrong;
}
