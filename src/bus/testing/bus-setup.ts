import type { LogEvent } from "../../contract/log/log-event.ts";
import { createId } from "../../lib/text/ids.ts";
import { createBroker, type FromBroker } from "../broker.ts";
import { createBrokerTransport, noSignatures } from "../broker-transport.ts";
import type { DeliveryNews, Hint, NodesBus, PresenceAnswer, PresenceQuestion, Watcher, WatchQuestion } from "../bus.ts";
import { createNatsTransport, type NatsOptions } from "../nats.ts";
import { createNodesBus, type NodesBusOptions } from "../nodes-bus.ts";
import { createSigner } from "../signatures.ts";

/** A message in the log. */
export const event = (org: string, offset: number, payload = "{}"): LogEvent => ({
  org,
  offset,
  kind: "message",
  id: `e${offset}`,
  cid: "c",
  payload,
  uids: undefined,
});

/** Collects the hints of a subscription; `take` waits for a number of them. */
export function collect() {
  const hints: Hint[] = [];
  let wake = () => {};
  return {
    handler(hint: Hint) {
      hints.push(hint);
      wake();
    },
    async take(count: number): Promise<(number | undefined)[]> {
      while (hints.length < count) await new Promise<void>((resolve) => (wake = resolve));
      return hints.splice(0).map(({ offset }) => offset);
    },
    hints,
  };
}

/** Answers with the ids asked about, each with one connection. */
export function echo(question: PresenceQuestion): PresenceAnswer {
  const ids = "uids" in question ? question.uids : [`${question.after}+${question.limit}`];
  const online = ids.map((id) => ({ id: `${question.org}/${id}`, connections: 1 }));
  return { online, hasMore: true, total: { users: 1, connections: 1 } };
}

/** A question about an event. */
export const watchQuestion: WatchQuestion = { org: "zoë 😀", event: "e", ack: "a.>", forMs: 1_000 };

/** What a node may tell. */
export const someNews: DeliveryNews = {
  online: ["ann", "*"],
  missed: ["*"],
  acknowledged: [],
  isPlayed: true,
  isDone: false,
};

type Begun = { id: string; question: WatchQuestion; tell(news: DeliveryNews): void };

/** A watcher that notes what it is asked; `next` waits for a question. */
export function createWatcher() {
  const begun: Begun[] = [];
  const ended: string[] = [];
  let wake = () => {};
  const watcher: Watcher = {
    begin(id, question, tell) {
      begun.push({ id, question, tell });
      wake();
    },
    end: (id) => void ended.push(id),
  };
  return {
    watcher,
    begun,
    ended,
    async next(): Promise<Begun> {
      for (;;) {
        const [one] = begun;
        if (one !== undefined) return one;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

/** Creates a signer that knows these secrets. */
export function signerOf(...secrets: string[]) {
  const signer = createSigner({ now: () => 0 });
  signer.take(secrets);
  return signer;
}

/**
 * Opens nodes' ends of a bus on a NATS server, with one secret unless told otherwise; `join` resolves once connected.
 */
export function busesOn(url: string) {
  const open = (given: Partial<NatsOptions & NodesBusOptions>) => {
    const options = {
      url,
      nodeId: "n",
      signer: signerOf("the secret of these nodes"),
      unsigning: () => new Set<string>(),
      onConnect: () => undefined,
      onAway: () => undefined,
      onError: () => undefined,
      onDrop: () => undefined,
      ...given,
    };
    return createNodesBus(createNatsTransport(options), options);
  };
  const join = (nodeId = createId(), options: Partial<NatsOptions & NodesBusOptions> = {}) =>
    new Promise<NodesBus>((resolve, reject) => {
      const bus = open({ nodeId, onConnect: () => resolve(bus), onError: reject, ...options });
    });
  return { open, join };
}

/** Opens nodes' ends of the bus of a broker; `lost` counts how often a node was told of lost texts, as each message is passed on. */
export function busesOnBroker() {
  const broker = createBroker();
  const open = (nodeId: string) => {
    const counts = { lost: 0 };
    let isStopped = false;
    const toNode: FromBroker[] = [];
    const transport = createBrokerTransport({
      send: (message) => queueMicrotask(() => connection.hear(message)),
      onLost: () => counts.lost++,
      onError: (error) => {
        throw error;
      },
    });
    const connection = broker.connect((message) => {
      if (isStopped) toNode.push(message);
      else queueMicrotask(() => transport.hear(message));
    });
    const options = { nodeId, signer: noSignatures, unsigning: () => new Set<string>() };
    const bus = createNodesBus(transport, { ...options, onError: fail, onDrop: fail });
    return {
      bus,
      counts,
      /** The process takes no messages until `goOn`. */
      stop() {
        isStopped = true;
      },
      goOn() {
        isStopped = false;
        toNode.splice(0).forEach(transport.hear);
      },
      /** The process has ended. */
      end: connection.end,
      onGone: transport.onGone,
    };
  };
  return { open, join: async (nodeId = createId()) => open(nodeId).bus };
}

function fail(reason: unknown): never {
  throw new Error(`the bus of a broker fails: ${reason}`);
}
