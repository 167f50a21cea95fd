const tellEveryMs = 1_000;

/** Runs what must not disturb its caller. */
export type Guard = (work: () => void) => void;

/** `onError` is told what the work throws, once a second at most, and it goes no further. */
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
