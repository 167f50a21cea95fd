import type { LogEvent } from "../../contract/log/log-event.ts";

const longestHoldMs = 2;

type Options = {
  /** Whether more events are about to come. */
  isBusy(): boolean;
  announce(events: LogEvent[]): void;
};

/**
 * Announces events together: at once when nothing more is about to come, else with what comes next, at most 2 ms later.
 * What is announced in one turn of the event loop costs each socket one write, so under load it pays to wait a moment.
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
