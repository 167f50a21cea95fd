/** Callbacks for the beginning and end of an outage. */
export type OutageEvents = { onError(error: unknown): void; onRecovery(): void };

/**
 * Wraps repeated work so that it never rejects: of consecutive failures, the first one is reported, and the recovery.
 */
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
