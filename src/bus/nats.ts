import {
  type ConnectionOptions,
  connect,
  type Msg,
  type NatsConnection,
  type Subscription,
} from "@nats-io/transport-node";
import { z } from "zod";
import { type HeraldError, unavailable } from "../contract/errors/errors.ts";
import { createGuard } from "../lib/observing/guard.ts";
import type { ActivityBus, Bus, DropReason, PresenceAnswer, PresenceQuestion, WatchBus } from "./bus.ts";
import { createNatsWatches } from "./nats-watches.ts";
import type { Signer } from "./signatures.ts";
import { createSignedTexts, type FreeKind } from "./signed-texts.ts";
import { activitySubject, logSubject, presenceSubject } from "./subjects.ts";

const pingIntervalMs = 2_000;
const reconnectWaitMs = 250;
const connectWithinMs = 2_000;
const refusedWaitMs = 2_000;
const flushWithinMs = 1_000;
const answerWithinMs = 1_000;
const tellOfDropsEveryMs = 60_000;
const anything = z.unknown();

// The client's defaults give up after ten reconnects, notice a dead server after minutes, and wait 20 s for a server
// that accepts a connection but stays silent.
const resilience = {
  waitOnFirstConnect: true,
  maxReconnectAttempts: -1,
  timeout: connectWithinMs,
  pingInterval: pingIntervalMs,
  maxPingOut: 2,
};

/** The options of a node's end of the bus. */
export type NatsBusOptions = {
  /** Comma-separated `nats://` or `tls://` URLs, which may contain user and password, or a token. */
  url: string;
  /** The id of this node, which is in its answers; NATS shows it as the connection name. */
  nodeId: string;
  /** Until it has a secret, nothing is sent and nothing trusted. */
  signer: Signer;
  /** The ids of live nodes whose version does not sign; their unsigned texts are accepted where they can do no harm. */
  unsigning(): ReadonlySet<string>;
  /** Called on every connect: events published before it were not heard. */
  onConnect(): void;
  /** Called when the connection is lost or refused, and with each refusal again. */
  onAway(error: unknown): void;
  onError(error: unknown): void;
  /** Called for the first dropped text, and then at most once a minute. */
  onDrop(reason: DropReason, subject: string): void;
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
type Listener = { subject: string; handle(message: Msg): void; subscription: Subscription | undefined };

/**
 * Creates the bus between nodes, on NATS core. A node starts and works without it, and joins when it is available. Of a
 * message larger than half of the server's limit, only the place is sent. Anyone who reaches NATS can send anything:
 * texts not signed by a node of this database are dropped, counted and reported, with no other effect.
 */
export function createNatsBus(options: NatsBusOptions): Bus & WatchBus & ActivityBus {
  const { url, nodeId, signer, unsigning, onConnect, onAway, onError, onDrop } = options;
  const listeners = new Set<Listener>();
  let connection: NatsConnection | undefined;
  let answer: ((question: PresenceQuestion) => PresenceAnswer) | undefined;
  const guard = createGuard(onError);
  let toldOfDropsAt = Number.NEGATIVE_INFINITY;
  const texts = createSignedTexts({ nodeId, signer, unsigning, onDrop: tellOfDrop });
  let isThere = false;
  let isClosing = false;
  const watches = createNatsWatches({ nodeId, texts, publish, listen });
  listen(presenceSubject, (message) => {
    if (answer === undefined) return;
    const question = texts.readQuestion(message.string());
    if (question === undefined) return;
    const answered = texts.writeAnswer(question.ask, answer(question));
    if (answered !== undefined) message.respond(answered);
  });

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

  function tellOfDrop(reason: DropReason, subject: string): void {
    if (performance.now() - toldOfDropsAt < tellOfDropsEveryMs) return;
    toldOfDropsAt = performance.now();
    onDrop(reason, subject);
  }

  function hear(opened: NatsConnection, listener: Listener): void {
    const { subject, handle } = listener;
    listener.subscription = opened.subscribe(subject, {
      callback(error, message) {
        if (error !== null) return onError(error);
        try {
          handle(message);
        } catch (cause) {
          onError(new Error(`cannot handle a message on ${subject}`, { cause }));
        }
      },
    });
  }

  /** Listens from now on, on this connection and all later ones. Returns the function that ends it. */
  function listen(subject: string, handle: (message: Msg) => void): () => void {
    const listener: Listener = { subject, handle, subscription: undefined };
    listeners.add(listener);
    if (connection !== undefined && !connection.isClosed()) hear(connection, listener);
    return () => {
      listeners.delete(listener);
      listener.subscription?.unsubscribe();
    };
  }

  /** Publishes signed content, if the connection is open. Never fails. */
  function publish(kind: FreeKind, subject: string, content: object): void {
    const text = isThere ? texts.write(kind, subject, content) : undefined;
    if (text !== undefined) guard(() => connection?.publish(subject, text));
  }

  return {
    publish(events) {
      const opened = connection;
      if (opened === undefined || opened.isClosed()) return;
      const maxBytes = (opened.info?.max_payload ?? 0) / 2;
      for (const event of events)
        guard(() => {
          const hint = texts.writeHint(event, maxBytes);
          if (hint !== undefined) opened.publish(logSubject(event.org), hint);
        });
    },
    async subscribe(org, handler) {
      const end = listen(logSubject(org), (message) => {
        const hint = texts.readHint(org, message.string());
        if (hint !== undefined) handler(hint);
      });
      // While the bus is away, a flush would wait for it; the head check covers that time.
      if (connection !== undefined && !connection.isClosed())
        await Promise.race([connection.flush().catch(() => undefined), Bun.sleep(flushWithinMs)]);
      return end;
    },
    async request(question, nodes) {
      const asked = texts.writeQuestion(question);
      if (connection === undefined || !isThere || asked === undefined) throw busAway();
      const answers = new Map<string, PresenceAnswer>();
      const missing = new Set(nodes);
      try {
        const options = { strategy: "timer", maxWait: answerWithinMs } as const;
        for await (const message of await connection.requestMany(presenceSubject, asked.text, options)) {
          const answered = texts.readAnswer(asked.ask, message.string());
          if (answered === undefined) continue;
          answers.set(answered.node, answered.answer);
          missing.delete(answered.node);
          if (missing.size === 0) break;
        }
      } catch (cause) {
        throw busAway(cause);
      }
      // This node is asked through the bus like any other: if not even it has answered, the bus is away.
      if (!answers.has(nodeId)) throw busAway();
      return answers;
    },
    respond(newAnswer) {
      answer = newAnswer;
    },
    ...watches,
    /** This node hears it as the others do. */
    tellActivity: (user) => publish("activity", activitySubject(user), { node: nodeId }),
    followActivity(user, hearUser) {
      const subject = activitySubject(user);
      return listen(subject, (message) => {
        if (texts.read("activity", subject, message.string(), anything) !== undefined) hearUser();
      });
    },
    dropped: texts.dropped,
    state: () => (isThere ? "up" : "down"),
    async close() {
      isClosing = true;
      await connection?.close();
    },
  };
}

function busAway(cause?: unknown): HeraldError {
  return unavailable({ detail: "the bus is down, so this node cannot query the other nodes; try again", cause });
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
