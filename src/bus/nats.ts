import { type ConnectionOptions, connect, type NatsConnection, type Subscription } from "@nats-io/transport-node";
import type { LogEvent } from "../contract/log-event.ts";
import type { Bus, Hint } from "./bus.ts";
import { logSubject } from "./subjects.ts";

const pingIntervalMs = 2_000;
const reconnectWaitMs = 250;
const flushWithinMs = 1_000;

// The client's defaults give up after ten reconnects and notice a dead server after minutes.
const resilience = {
  name: "herald",
  waitOnFirstConnect: true,
  maxReconnectAttempts: -1,
  reconnectTimeWait: reconnectWaitMs,
  pingInterval: pingIntervalMs,
  maxPingOut: 2,
};

/** What the bus tells. */
export type BusEvents = {
  /** Called when the connection is there, for the first time or again: what was published meanwhile was not heard. */
  onConnect(): void;
  onError(error: unknown): void;
};

type Options = BusEvents & {
  /** `nats://` or `tls://` URLs, with commas between them; user and password, or a token, may be in them. */
  url: string;
};

type Subscriber = { org: string; handler: (hint: Hint) => void; subscription: Subscription | undefined };

/**
 * The bus between nodes, on NATS core. A node starts and works without it; it is joined when it is there. A message larger
 * than half of the server's limit is not sent: its offset is.
 */
export function createNatsBus({ url, onConnect, onError }: Options): Bus {
  const subscribers = new Set<Subscriber>();
  let connection: NatsConnection | undefined;
  let isClosing = false;

  open().catch((error: unknown) => {
    if (!isClosing) onError(error);
  });

  async function open(): Promise<void> {
    const opened = await connect({ ...parseUrl(url), ...resilience });
    connection = opened;
    if (isClosing) return await opened.close();
    for (const subscriber of subscribers) listen(opened, subscriber);
    watch(opened).catch(onError);
    onConnect();
  }

  async function watch(opened: NatsConnection): Promise<void> {
    for await (const { type } of opened.status()) if (type === "reconnect") onConnect();
  }

  function listen(opened: NatsConnection, subscriber: Subscriber): void {
    subscriber.subscription = opened.subscribe(logSubject(subscriber.org), {
      callback(error, message) {
        if (error !== null) return onError(error);
        subscriber.handler(message.json<Hint>());
      },
    });
  }

  function encode(event: LogEvent, maxBytes: number): string {
    const text = JSON.stringify(event);
    const { org, offset } = event;
    return Buffer.byteLength(text) <= maxBytes ? text : JSON.stringify({ org, offset } satisfies Hint);
  }

  return {
    publish(events) {
      if (connection === undefined || connection.isClosed()) return;
      const maxBytes = (connection.info?.max_payload ?? 0) / 2;
      for (const event of events) connection.publish(logSubject(event.org), encode(event, maxBytes));
    },
    async subscribe(org, handler) {
      const subscriber: Subscriber = { org, handler, subscription: undefined };
      subscribers.add(subscriber);
      if (connection !== undefined) {
        listen(connection, subscriber);
        // While the bus is away a flush would wait for it; the head check does instead.
        await Promise.race([connection.flush().catch(() => undefined), Bun.sleep(flushWithinMs)]);
      }
      return () => {
        subscribers.delete(subscriber);
        subscriber.subscription?.unsubscribe();
      };
    },
    async close() {
      isClosing = true;
      await connection?.close();
    },
  };
}

/** The servers of a list of URLs, and the credentials of the first: NATS takes one login for all. */
function parseUrl(url: string): ConnectionOptions {
  const urls = url.split(",").map((one) => new URL(one.trim()));
  const [{ username, password, protocol } = new URL(url)] = urls;
  const servers = urls.map(({ host }) => host);
  const tls = protocol === "tls:" ? { tls: {} } : {};
  if (username === "") return { servers, ...tls };
  const user = decodeURIComponent(username);
  return password === ""
    ? { servers, token: user, ...tls }
    : { servers, user, pass: decodeURIComponent(password), ...tls };
}
