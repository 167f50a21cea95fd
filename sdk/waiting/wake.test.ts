import { expect, setSystemTime, test } from "bun:test";
import { createQueue } from "../testing/queue.ts";
import { sleep } from "./timers.ts";
import { sleepUntilAwake, watchWaking } from "./wake.ts";

const never = new AbortController().signal;
const long = 60_000;

test.each(["online", "resume", "pageshow"])("a wait ends at the event %s", async (event) => {
  const browser = new EventTarget();
  const waiting = sleepUntilAwake(long, never, browser);
  browser.dispatchEvent(new Event(event));
  await waiting;
});

test("a wait ends when it is aborted, and by itself", async () => {
  const abort = new AbortController();
  const aborted = sleepUntilAwake(long, abort.signal, new EventTarget());
  abort.abort();
  await aborted;
  await sleepUntilAwake(long, abort.signal);
  await sleepUntilAwake(1, never, {});
  expect(await sleepUntilAwake(1, never)).toBeUndefined();
});

test("a clock that jumps wakes, a late timer does not, and nothing is called after the end", async () => {
  const heard = createQueue<string>();
  const over = new AbortController();
  const noon = Date.parse("2026-11-20T12:00:00Z");
  setSystemTime(noon); // the clock stands still from now on
  try {
    watchWaking({ wake: () => heard.push("wake"), tick: () => heard.push("tick"), everyMs: 1 }, over.signal, {});
    setSystemTime(noon + 2_500);
    expect(await heard.take(2)).toEqual(["tick", "tick"]);
    setSystemTime(noon + 3_600_000);
    expect(await heard.next()).toBe("wake");
    over.abort();
    const { length } = heard;
    await sleep(20);
    expect(heard.length).toBe(length);
  } finally {
    setSystemTime();
  }
});
