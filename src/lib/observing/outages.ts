/** What is told of work that fails for a while. */
export type OutageEvents = { onError(error: unknown): void; onRecovery(): void };

/** Makes work that is done again and again never reject: of a row of failures it tells the first one, and their end. */
export function tellOutages(work: () => Promise<void>, { onError, onRecovery }: OutageEvents): () => Promise<void> {
  let isFailing = false;
  return async () => {
    try {
      await work();
      if (isFailing) onRecovery();
      isFailing = false;
    } catch (error) {
      if (!isFailing) onError(error);
      isFailing = true;
    }
  };
}
