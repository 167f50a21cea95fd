import { createGuard } from "../lib/observing/guard.ts";
import { createSetsByKey } from "../lib/sets-by-key.ts";
import { type FromBroker, forEachText, type ToBroker } from "./broker.ts";
import type { Signer } from "./signatures.ts";
import { forEachListened } from "./subjects.ts";
import { type Arrival, type Transport, transportWaitsMs } from "./transport.ts";

const maxBytes = 8 * 1024 * 1024; // twice the largest event
const noAnswer = () => undefined;

type Handle = (arrival: Arrival) => void;

type Options = {
  send(message: ToBroker): void;
  /** Called when texts were dropped on the way to this node. */
  onLost(): void;
  onError(error: unknown): void;
};

/**
 * Creates a node's transport through the broker of its machine. `hear` takes what the broker tells; `onGone` says that the broker
 * is gone, with the process that started this one. What this node publishes, it hears at once.
 */
export function createBrokerTransport({ send, onLost, onError }: Options): Transport & {
  hear(message: FromBroker): void;
  onGone(): void;
} {
  const handlers = createSetsByKey<string, Handle>();
  const flushes = new Map<number, () => void>();
  const asked = new Map<number, (text: string) => void>();
  const guard = createGuard(onError);
  let published: string[] = []; // in this turn of the event loop
  let lastId = 0;
  let isThere = true;

  function deliver(arrival: Arrival): void {
    forEachListened(arrival.subject, handlers, (handle) => guard(() => handle(arrival)));
  }

  function sendPublished(): void {
    const texts = published;
    published = [];
    if (isThere) send({ bus: "publish", texts });
  }

  return {
    isUp: () => isThere,
    maxBytes: () => (isThere ? maxBytes : 0),
    publish(subject, text) {
      if (published.length === 0) queueMicrotask(sendPublished);
      published.push(subject, text);
      deliver({ subject, text, respond: noAnswer });
    },
    listen(subject, handle) {
      if (handlers.of(subject) === undefined) send({ bus: "listen", subject });
      handlers.add(subject, handle);
      return () => {
        handlers.remove(subject, handle);
        if (isThere && handlers.of(subject) === undefined) send({ bus: "unlisten", subject });
      };
    },
    async flush() {
      if (!isThere) return;
      const id = ++lastId;
      const { promise, resolve } = Promise.withResolvers<void>();
      flushes.set(id, resolve);
      send({ bus: "flush", id });
      const timer = setTimeout(resolve, transportWaitsMs.flush);
      await promise;
      clearTimeout(timer);
      flushes.delete(id);
    },
    async ask(subject, text) {
      if (!isThere) throw new Error("the process that connects the workers is gone");
      return answersTo(subject, text);
    },
    async close() {
      isThere = false;
    },
    hear(message) {
      if (!isThere) return;
      switch (message.bus) {
        case "texts": {
          let characters = 0;
          forEachText(message.texts, (subject, text) => {
            characters += text.length;
            deliver({ subject, text, respond: noAnswer });
          });
          send({ bus: "taken", characters });
          break;
        }
        case "flushed":
          flushes.get(message.id)?.();
          break;
        case "asked": {
          const { from, id, subject, text } = message;
          deliver({ subject, text, respond: (answer) => send({ bus: "answer", to: from, id, text: answer }) });
          break;
        }
        case "answered":
          asked.get(message.id)?.(message.text);
          break;
        case "lost":
          onLost();
      }
    },
    onGone() {
      isThere = false;
    },
  };

  /** Asks, this node first, and gives the answers until the time is over. */
  async function* answersTo(subject: string, text: string): AsyncGenerator<string> {
    const id = ++lastId;
    const answers: string[] = [];
    let wake = () => {};
    const add = (answer: string) => {
      answers.push(answer);
      wake();
    };
    asked.set(id, add);
    const end = performance.now() + transportWaitsMs.answer;
    try {
      send({ bus: "ask", id, subject, text });
      deliver({ subject, text, respond: add });
      for (;;) {
        yield* answers.splice(0);
        const leftMs = end - performance.now();
        if (leftMs <= 0) return;
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, leftMs);
        wake = resolve;
        if (answers.length === 0) await promise;
        clearTimeout(timer);
      }
    } finally {
      asked.delete(id);
    }
  }
}

/** The signatures of nodes that only processes of their own reach: there are none. */
export const noSignatures: Signer = { take: () => undefined, sign: (_, __, text) => text, verify: () => "signed" };
