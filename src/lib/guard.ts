const tellEveryMs = 1_000;

/** Runs what must not disturb its caller. */
export type Guard = (work: () => void) => void;

/** What the work throws is told to `onError`, one in a second at most, and goes no further. */
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
