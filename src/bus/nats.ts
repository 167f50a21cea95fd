import {
  type ConnectionOptions,
  connect,
  type Msg,
  type NatsConnection,
  type Subscription,
} from "@nats-io/transport-node";
import { createGuard } from "../lib/observing/guard.ts";
import { type Arrival, type Transport, transportWaitsMs } from "./transport.ts";

const pingIntervalMs = 2_000;
const reconnectWaitMs = 250;
const connectWithinMs = 2_000;
const refusedWaitMs = 2_000;

// The client's defaults give up after ten reconnects, notice a dead server after minutes, and wait 20 s for a server
// that accepts a connection but stays silent.
const resilience = {
  waitOnFirstConnect: true,
  maxReconnectAttempts: -1,
  timeout: connectWithinMs,
  pingInterval: pingIntervalMs,
  maxPingOut: 2,
};

/** The options of a node's connection to NATS. */
export type NatsOptions = {
  /** Comma-separated `nats://` or `tls://` URLs, which may contain user and password, or a token. */
  url: string;
  /** The id of this node; NATS shows it as the connection name. */
  nodeId: string;
  /** Called on every connect: texts published before it were not heard. */
  onConnect(): void;
  /** Called when the connection is lost or refused, and with each refusal again. */
  onAway(error: unknown): void;
  onError(error: unknown): void;
};

/** Connects once, and returns the server's version and the time of a round trip. Rejects within seconds. */
export async function probeNats(url: string): Promise<{ version: string; rttMs: number }> {
  const connection = await connect({ ...parseUrl(url), timeout: connectWithinMs, reconnect: false });
  try {
    return { version: connection.info?.version ?? "unknown", rttMs: await connection.rtt() };
  } finally {
    await connection.close();
  }
}

/** What this node hears on a subject, on each connection anew. */
type Listener = { subject: string; handle(arrival: Arrival): void; subscription: Subscription | undefined };

/**
 * Creates the transport on NATS core. A node starts and works without it, and joins when it is available. Anyone who reaches
 * NATS can send anything.
 */
export function createNatsTransport({ url, nodeId, onConnect, onAway, onError }: NatsOptions): Transport {
  const listeners = new Set<Listener>();
  let connection: NatsConnection | undefined;
  const guard = createGuard(onError);
  let isThere = false;
  let isClosing = false;

  stayConnected().catch(onError);

  /**
   * Reopens the connection, as the client gives up when it is refused, for example over a wrong password, which may be
   * fixed while this node runs.
   */
  async function stayConnected(): Promise<void> {
    while (!isClosing) {
      const reason = await open().catch((error: unknown) => error);
      if (isClosing) return;
      onAway(new Error("the bus refuses the connection; this node retries every 2 s", { cause: reason }));
      await Bun.sleep(refusedWaitMs);
    }
  }

  /**
   * Called before each attempt to connect; throwing is the only way to end the attempts before the first connection.
   */
  function waitBeforeConnect(): number {
    if (isClosing) throw new Error("the bus is closed");
    return reconnectWaitMs;
  }

  /** Resolves once the connection is closed for good. */
  async function open(): Promise<unknown> {
    const name = `herald ${nodeId}`;
    const opened = await connect({ ...parseUrl(url), ...resilience, name, reconnectDelayHandler: waitBeforeConnect });
    connection = opened;
    if (isClosing) return await opened.close();
    for (const listener of listeners) hear(opened, listener);
    isThere = true;
    watch(opened).catch(onError);
    onConnect();
    const reason = await opened.closed();
    isThere = false;
    return reason;
  }

  async function watch(opened: NatsConnection): Promise<void> {
    for await (const { type } of opened.status()) {
      if (type === "disconnect") {
        isThere = false;
        if (!isClosing) onAway(new Error("the connection was lost; this node reconnects"));
      }
      if (type !== "reconnect") continue;
      isThere = true;
      onConnect();
    }
  }

  function hear(opened: NatsConnection, listener: Listener): void {
    const { subject, handle } = listener;
    listener.subscription = opened.subscribe(subject, {
      callback(error, message) {
        if (error !== null) return onError(error);
        try {
          handle(arrivalOf(message));
        } catch (cause) {
          onError(new Error(`cannot handle a message on ${subject}`, { cause }));
        }
      },
    });
  }

  /** The connection, if it is open or is opened again. */
  const current = () => (connection === undefined || connection.isClosed() ? undefined : connection);

  return {
    isUp: () => isThere,
    maxBytes: () => current()?.info?.max_payload ?? 0,
    publish: (subject, text) => guard(() => current()?.publish(subject, text)),
    listen(subject, handle) {
      const listener: Listener = { subject, handle, subscription: undefined };
      listeners.add(listener);
      const opened = current();
      if (opened !== undefined) hear(opened, listener);
      return () => {
        listeners.delete(listener);
        listener.subscription?.unsubscribe();
      };
    },
    // While the bus is away, a flush would wait for it; the head check covers that time.
    async flush() {
      const opened = current();
      if (opened !== undefined)
        await Promise.race([opened.flush().catch(() => undefined), Bun.sleep(transportWaitsMs.flush)]);
    },
    async ask(subject, text) {
      const opened = current();
      if (opened === undefined) throw new Error("not connected");
      const options = { strategy: "timer", maxWait: transportWaitsMs.answer } as const;
      return textsOf(await opened.requestMany(subject, text, options));
    },
    async close() {
      isClosing = true;
      await connection?.close();
    },
  };
}

function arrivalOf(message: Msg): Arrival {
  return { subject: message.subject, text: message.string(), respond: (text) => void message.respond(text) };
}

async function* textsOf(messages: AsyncIterable<Msg>): AsyncGenerator<string> {
  for await (const message of messages) yield message.string();
}

/** The servers of a list of URLs, and the credentials of the first: NATS takes one login for all of them. */
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
