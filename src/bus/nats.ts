import {
  type ConnectionOptions,
  connect,
  type Msg,
  type NatsConnection,
  type Subscription,
} from "@nats-io/transport-node";
import { type HeraldError, unavailable } from "../contract/errors/errors.ts";
import { createGuard } from "../lib/observing/guard.ts";
import type { Bus, DropReason, Hint, PresenceAnswer, PresenceQuestion } from "./bus.ts";
import type { Signer } from "./signatures.ts";
import { createSignedTexts } from "./signed-texts.ts";
import { logSubject, presenceSubject } from "./subjects.ts";

const pingIntervalMs = 2_000;
const reconnectWaitMs = 250;
const connectWithinMs = 2_000;
const refusedWaitMs = 2_000;
const flushWithinMs = 1_000;
const answerWithinMs = 1_000;
const tellOfDropsEveryMs = 60_000;

// The client's defaults give up after ten reconnects, notice a dead server after minutes, and wait 20 s for one that accepts
// a connection and says nothing.
const resilience = {
  waitOnFirstConnect: true,
  maxReconnectAttempts: -1,
  timeout: connectWithinMs,
  pingInterval: pingIntervalMs,
  maxPingOut: 2,
};

/** What the bus tells. */
export type BusEvents = {
  /** Called when the connection is there, for the first time or again: what was published meanwhile was not heard. */
  onConnect(): void;
  onError(error: unknown): void;
  /** A text was dropped. Told of the first, and then once a minute at most, however many there are. */
  onDrop(reason: DropReason, subject: string): void;
};

/** What a node's end of the bus is made of. */
export type NatsBusOptions = BusEvents & {
  /** `nats://` or `tls://` URLs, with commas between them; user and password, or a token, may be in them. */
  url: string;
  /** The id of this node: its answers carry it, and NATS shows it as the name of the connection. */
  nodeId: string;
  /** Without a secret nothing is sent, and nothing believed. */
  signer: Signer;
  /** The ids of the nodes that live and are of a version that does not sign: theirs is believed as far as nothing can come of it. */
  unsigning(): ReadonlySet<string>;
};

type Subscriber = { org: string; handler: (hint: Hint) => void; subscription: Subscription | undefined };

/**
 * The bus between nodes, on NATS core. A node starts and works without it; it is joined when it is there. A message larger
 * than half of the server's limit is not sent: its offset is. Anyone who reaches NATS can send anything: what no node of this
 * database has signed is dropped, counted and reported, and harms nothing else.
 */
export function createNatsBus({ url, nodeId, signer, unsigning, onConnect, onError, onDrop }: NatsBusOptions): Bus {
  const subscribers = new Set<Subscriber>();
  let connection: NatsConnection | undefined;
  let answer: ((question: PresenceQuestion) => PresenceAnswer) | undefined;
  const guard = createGuard(onError);
  let toldOfDropsAt = Number.NEGATIVE_INFINITY;
  const texts = createSignedTexts({ nodeId, signer, unsigning, onDrop: tellOfDrop });
  let isThere = false;
  let isClosing = false;

  stayConnected().catch(onError);

  /** The client gives up when it is refused, as with a wrong password; that may be mended while this node runs. */
  async function stayConnected(): Promise<void> {
    while (!isClosing) {
      const reason = await open().catch((error: unknown) => error);
      if (isClosing) return;
      onError(new Error("the bus refuses this node, which tries again every 2 s", { cause: reason }));
      await Bun.sleep(refusedWaitMs);
    }
  }

  /** Called before each attempt to connect; there is no other way to end the attempts while there was no connection. */
  function waitBeforeConnect(): number {
    if (isClosing) throw new Error("the bus is closed");
    return reconnectWaitMs;
  }

  /** Resolves when the connection is over for good. */
  async function open(): Promise<unknown> {
    const name = `herald ${nodeId}`;
    const opened = await connect({ ...parseUrl(url), ...resilience, name, reconnectDelayHandler: waitBeforeConnect });
    connection = opened;
    if (isClosing) return await opened.close();
    for (const subscriber of subscribers) listen(opened, subscriber);
    hear(opened, presenceSubject, (message) => {
      if (answer === undefined) return;
      const question = texts.readQuestion(message.string());
      if (question === undefined) return;
      const answered = texts.writeAnswer(question.ask, answer(question));
      if (answered !== undefined) message.respond(answered);
    });
    isThere = true;
    watch(opened).catch(onError);
    onConnect();
    const reason = await opened.closed();
    isThere = false;
    return reason;
  }

  async function watch(opened: NatsConnection): Promise<void> {
    for await (const { type } of opened.status()) {
      if (type === "disconnect") isThere = false;
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

  function hear(opened: NatsConnection, subject: string, handle: (message: Msg) => void): Subscription {
    return opened.subscribe(subject, {
      callback(error, message) {
        if (error !== null) return onError(error);
        try {
          handle(message);
        } catch (cause) {
          onError(new Error(`a message on ${subject} cannot be handled`, { cause }));
        }
      },
    });
  }

  function listen(opened: NatsConnection, subscriber: Subscriber): void {
    const { org, handler } = subscriber;
    subscriber.subscription = hear(opened, logSubject(org), (message) => {
      const hint = texts.readHint(org, message.string());
      if (hint !== undefined) handler(hint);
    });
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
      const subscriber: Subscriber = { org, handler, subscription: undefined };
      subscribers.add(subscriber);
      if (connection !== undefined && !connection.isClosed()) {
        listen(connection, subscriber);
        // While the bus is away a flush would wait for it; the head check does instead.
        await Promise.race([connection.flush().catch(() => undefined), Bun.sleep(flushWithinMs)]);
      }
      return () => {
        subscribers.delete(subscriber);
        subscriber.subscription?.unsubscribe();
      };
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
      // This node is asked through the bus like every other: where not even it has answered, the bus is away.
      if (!answers.has(nodeId)) throw busAway();
      return answers;
    },
    respond(newAnswer) {
      answer = newAnswer;
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
  return unavailable({ detail: "the bus between the nodes is away, so the other nodes cannot be asked", cause });
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
