/**
 * Limits how many calls of one name are in flight: a few at first, one more with each small call, and a few again after a
 * large one. So small calls flow, and large ones leave room for others (compare the slow start of TCP, RFC 5681).
 */
export type Windows = {
  isFull(name: string): boolean;
  /** Call at a call's begin, full or not. */
  open(name: string): void;
  /** Call at its end. */
  close(name: string, wasLarge: boolean): void;
};

type Options = { least: number; most: number };
type Window = { inFlight: number; width: number };

/** Creates windows between `least` and `most` calls wide. A name without calls in flight is forgotten. */
export function createWindows({ least, most }: Options): Windows {
  const windows = new Map<string, Window>();
  return {
    isFull(name) {
      const window = windows.get(name);
      return window !== undefined && window.inFlight >= window.width;
    },
    open(name) {
      const window = windows.get(name);
      if (window === undefined) windows.set(name, { inFlight: 1, width: least });
      else window.inFlight++;
    },
    close(name, wasLarge) {
      const window = windows.get(name);
      if (window === undefined) return;
      window.width = wasLarge ? least : Math.min(most, window.width + 1);
      if (--window.inFlight === 0) windows.delete(name);
    },
  };
}
