import type { WebSocketConstructor } from "../../sdk/connection/websocket.ts";
import { createClient } from "../../sdk/index.ts";
import { within } from "../harness/deadline.ts";
import { goodClaims, signToken } from "../harness/servers/tokens.ts";

export type Transport = "websocket" | "sse";

/** Who listens, and where. */
export type Place = {
  org: string;
  uid: string;
  transport: Transport;
  urls: string[];
  /** How long its tokens live, in seconds. */
  tokenSeconds: number;
};

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
  /** The state in which it ended, if it was refused for good. */
  refusal: string | undefined;
  /** The texts that it shows, by the ids of the messages. */
  shown: [id: string, text: string][];
};

/** A client under test. `account` waits until it shows these messages. */
export type Listener = {
  untilConnected: Promise<void>;
  account(last: readonly string[], ms: number): Promise<Ledger>;
  stop(): void;
};

/** A WebSocket behind a firewall that blocks WebSockets. */
const BlockedWebSocket: WebSocketConstructor = class {
  addEventListener(type: string, listener: (event: object) => void) {
    if (type === "close") queueMicrotask(() => listener({ code: 1006, reason: "" }));
  }

  send() {}
  close() {}
};

/** Connects with the client of the SDK and its default times. The app applies edits and recalls to what it shows. */
export function listen({ org, uid, transport, urls, tokenSeconds }: Place): Listener {
  const ledger: Omit<Ledger, "shown"> = {
    uid,
    transport,
    messages: [],
    deliveries: 0,
    connections: 0,
    gaps: 0,
    refusal: undefined,
  };
  const shown = new Map<string, string>();
  const waiting = new Map<string, () => void>();
  const connected = Promise.withResolvers<void>();
  const client = createClient({
    url: urls,
    ...(transport === "sse" && { WebSocket: BlockedWebSocket }),
    token() {
      const { iat = 0, ...claims } = goodClaims(org, uid);
      return signToken({ ...claims, iat, exp: iat + tokenSeconds });
    },
    onMessage({ _id, body }) {
      ledger.deliveries += 1;
      ledger.messages.push(_id);
      shown.set(_id, body);
      waiting.get(_id)?.();
    },
    onSystemMessage: () => undefined,
    onMessageEdit({ id, body }) {
      ledger.deliveries += 1;
      if (shown.has(id)) shown.set(id, body);
    },
    onMessageDelete({ ids }) {
      ledger.deliveries += 1;
      for (const id of ids) shown.delete(id);
    },
    onMessageRead() {
      ledger.deliveries += 1;
    },
    onGap() {
      ledger.gaps += 1;
    },
    onStateChange(state, { code, reason }) {
      if (state === "closed") ledger.refusal = `${code} ${reason}`;
      if (state !== "connected") return;
      ledger.connections += 1;
      connected.resolve();
    },
    onError: () => undefined,
  });
  client.start();

  const untilShown = (id: string) =>
    new Promise<void>((resolve) => {
      if (shown.has(id)) resolve();
      else waiting.set(id, resolve);
    });
  return {
    untilConnected: connected.promise,
    async account(last, ms) {
      // Whoever does not hear the last message is judged by what is missing.
      await within(Promise.all(last.map(untilShown)), "the last messages", ms).catch(() => undefined);
      return { ...ledger, shown: [...shown] };
    },
    stop: () => client.stop(),
  };
}
