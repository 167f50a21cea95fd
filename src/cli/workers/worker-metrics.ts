import type { MetricFamily } from "../../contract/metrics.ts";

const answerWithinMs = 1_000;
const gatheredWithinMs = 2_000;

/** What `herald serve --workers` sends to a worker: a request for its metrics, or the gathered metrics that it asked for. */
export type ToWorker = { kind: "tell"; id: number } | { kind: "gathered"; id: number; processes: MetricFamily[][] };

/** What a worker sends: a request for the metrics of all workers, or its own metrics. */
export type FromWorker = { kind: "gather"; id: number } | { kind: "told"; id: number; families: MetricFamily[] };

/** Questions to another process, which may fail to answer. */
function createQuestions<Answer>(withinMs: number) {
  const waiting = new Map<number, (answer: Answer | undefined) => void>();
  let lastId = 0;
  return {
    /** Resolves with the answer, or with `undefined` if none arrives in time. */
    async ask(send: (id: number) => void): Promise<Answer | undefined> {
      const id = ++lastId;
      const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
      const timer = setTimeout(resolve, withinMs);
      waiting.set(id, resolve);
      try {
        send(id);
        return await promise;
      } finally {
        clearTimeout(timer);
        waiting.delete(id);
      }
    },
    answer(id: number, answer: Answer): void {
      waiting.get(id)?.(answer);
    },
  };
}

/**
 * The parent's side. Workers share a port, so a scrape can reach any of them. The worker that it reaches asks the parent, and
 * responds with the metrics of all workers.
 */
export function createGathering(count: number) {
  const questions = createQuestions<MetricFamily[]>(answerWithinMs);
  const ready = new Map<number, (message: ToWorker) => void>();

  async function gather(): Promise<MetricFamily[][]> {
    const numbers = Array.from({ length: count }, (_, index) => index + 1);
    const told = await Promise.all(
      numbers.map(async (number) => {
        const send = ready.get(number);
        return send && (await questions.ask((id) => send({ kind: "tell", id })));
      }),
    );
    const up = numbers.map((number, index) => ({
      labels: { worker: String(number) },
      value: told[index] === undefined ? 0 : 1,
    }));
    return [[{ name: "herald_worker_up", values: up }], ...told.filter((families) => families !== undefined)];
  }

  return {
    /** Adds a worker that accepts requests, and receives what `send` is called with. Returns a function that removes it again. */
    add(number: number, send: (message: ToWorker) => void): () => void {
      ready.set(number, send);
      return () => {
        if (ready.get(number) === send) ready.delete(number);
      };
    },
    /** Handles a message from a worker. Never rejects, not even if the worker has exited meanwhile. */
    async hear(message: FromWorker, reply: (message: ToWorker) => void): Promise<void> {
      if (message.kind === "told") questions.answer(message.id, message.families);
      else reply({ kind: "gathered", id: message.id, processes: await gather() });
    },
  };
}

/** The worker's side. `send` sends to the parent; `own` returns the worker's own metrics. */
export function createWorkerMetrics(send: (message: FromWorker) => void, own: () => MetricFamily[]) {
  const questions = createQuestions<MetricFamily[][]>(gatheredWithinMs);
  return {
    /** The metrics of all workers, or of this one alone if the parent does not answer. */
    gather: async () => (await questions.ask((id) => send({ kind: "gather", id }))) ?? [own()],
    /** Handles a message from the parent. */
    hear(message: ToWorker): void {
      if (message.kind === "tell") send({ kind: "told", id: message.id, families: own() });
      else questions.answer(message.id, message.processes);
    },
  };
}
