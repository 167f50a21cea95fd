import { createThreadScheduler } from "../thread-scheduler.ts";

/**
 * A thread whose turns tests take. In each, one piece of work may begin, whatever it costs. `step` takes the next turn;
 * `open` takes all there are, and all to come.
 */
export function createSteppedThread() {
  const deferred: (() => void)[] = [];
  let isOpen = false;
  const thread = createThreadScheduler({
    sliceUs: 1,
    defer: (callback) => void (isOpen ? setImmediate(callback) : deferred.push(callback)),
  });
  return {
    ...thread,
    get waiting() {
      return thread.waiting;
    },
    step: () => deferred.shift()?.(),
    open() {
      isOpen = true;
      for (const callback of deferred.splice(0)) callback();
    },
  };
}
