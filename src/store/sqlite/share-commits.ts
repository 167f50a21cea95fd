import type { BatchLog, NewSend, SendOutcome } from "../ports.ts";

type Batch = {
  sends: NewSend[];
  resolve(outcomes: SendOutcome[]): void;
  reject(error: unknown): void;
};

/** What goes into one commit at most, beside the first batch. */
type Most = { sends: number; characters: number };

/**
 * Lets batches that arrive during a commit share the next one, each of them whole: those of several processes, which would have a
 * flush each. Batches are stored in the order of their arrival.
 */
export function shareCommits(appendAll: BatchLog["appendAll"], most: Most): BatchLog["appendAll"] {
  const waiting: Batch[] = [];
  let isRunning = false;

  /** The batches that wait the longest, as many as fit. */
  function take(): Batch[] {
    let sends = 0;
    let characters = 0;
    const end = waiting.findIndex((batch) => {
      sends += batch.sends.length;
      characters += charactersOf(batch);
      return sends > most.sends || characters > most.characters;
    });
    return waiting.splice(0, end === -1 ? waiting.length : Math.max(end, 1));
  }

  async function run(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      const batches = take();
      try {
        const outcomes = await appendAll(batches.flatMap(({ sends }) => sends));
        for (const { sends, resolve } of batches) resolve(outcomes.splice(0, sends.length));
      } catch (error) {
        for (const { reject } of batches) reject(error);
      }
    }
    isRunning = false;
  }

  return (sends) => {
    const { promise, resolve, reject } = Promise.withResolvers<SendOutcome[]>();
    waiting.push({ sends, resolve, reject });
    if (!isRunning) void run();
    return promise;
  };
}

function charactersOf({ sends }: Batch): number {
  return sends.reduce((sum, { payload }) => sum + payload.length, 0);
}
