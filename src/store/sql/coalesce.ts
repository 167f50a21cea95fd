import type { LogEvent } from "../../contract/log/log-event.ts";

const longestHoldMs = 2;

type Options = {
  /** Whether more events are about to come. */
  isBusy(): boolean;
  announce(events: LogEvent[]): void;
};

/**
 * Creates a function that announces events in groups: at once if no more are about to come, otherwise with the next
 * ones, at most 2 ms later. Events announced in one turn of the event loop cost each socket a single write, so waiting
 * pays under load.
 */
export function createCoalescer({ isBusy, announce }: Options): (events: LogEvent[]) => void {
  let held: LogEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  function release(): void {
    clearTimeout(timer);
    timer = undefined;
    if (held.length === 0) return;
    const events = held;
    held = [];
    announce(events);
  }

  return (events) => {
    held.push(...events);
    if (isBusy()) timer ??= setTimeout(release, longestHoldMs);
    else release();
  };
}
