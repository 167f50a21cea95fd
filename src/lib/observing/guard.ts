const tellEveryMs = 1_000;

/** Runs work that must not disturb its caller. */
export type Guard = (work: () => void) => void;

/** Creates a guard that catches what the work throws and passes it to `onError`, at most once a second. */
export function createGuard(onError: (error: unknown) => void): Guard {
  let toldAt = Number.NEGATIVE_INFINITY;
  return (work) => {
    try {
      work();
    } catch (error) {
      if (performance.now() - toldAt < tellEveryMs) return;
      toldAt = performance.now();
      onError(error);
    }
  };
}
