import type { MetricFamily } from "../../contract/metrics.ts";

const answerWithinMs = 1_000;
const gatheredWithinMs = 2_000;

/** What `herald serve --workers` says to a worker: tell your metrics; these are the metrics that you asked for. */
export type ToWorker = { kind: "tell"; id: number } | { kind: "gathered"; id: number; processes: MetricFamily[][] };

/** What a worker says of metrics: I want those of all workers; these are mine. */
export type FromWorker = { kind: "gather"; id: number } | { kind: "told"; id: number; families: MetricFamily[] };

/** Questions that another process answers, or not. */
function createQuestions<Answer>(withinMs: number) {
  const waiting = new Map<number, (answer: Answer | undefined) => void>();
  let lastId = 0;
  return {
    /** Resolves with the answer, or with `undefined` when none came in time. */
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
 * The parent's side. Workers share a port, so a scrape reaches any of them: that one asks here, and tells the metrics of
 * all.
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
    /** A worker takes requests, and hears what is sent; gives the function that is called when it has ended. */
    add(number: number, send: (message: ToWorker) => void): () => void {
      ready.set(number, send);
      return () => {
        if (ready.get(number) === send) ready.delete(number);
      };
    },
    /** A worker said something. Never rejects: a worker that has ended meanwhile is told nothing. */
    async hear(message: FromWorker, reply: (message: ToWorker) => void): Promise<void> {
      if (message.kind === "told") questions.answer(message.id, message.families);
      else reply({ kind: "gathered", id: message.id, processes: await gather() });
    },
  };
}

/** The worker's side: `send` reaches the parent, `own` measures. */
export function createWorkerMetrics(send: (message: FromWorker) => void, own: () => MetricFamily[]) {
  const questions = createQuestions<MetricFamily[][]>(gatheredWithinMs);
  return {
    /** The metrics of all workers, or of this one alone when the parent does not answer. */
    gather: async () => (await questions.ask((id) => send({ kind: "gather", id }))) ?? [own()],
    /** The parent said something. */
    hear(message: ToWorker): void {
      if (message.kind === "tell") send({ kind: "told", id: message.id, families: own() });
      else questions.answer(message.id, message.processes);
    },
  };
}
