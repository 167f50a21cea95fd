import { expect, test } from "bun:test";
import { eventually } from "../../../test/harness/deadline.ts";
import { createHistogram } from "../observing/histogram.ts";
import { watchEventLoop } from "./event-loop.ts";

test("work that blocks the event loop shows as a delay of about its duration", async () => {
  const delays = createHistogram({ lowest: 0.1, doublings: 17 });
  const end = watchEventLoop(delays);
  const maximum = () => delays.quantile(1, delays.counts()) ?? 0;
  await eventually(() => delays.count > 0 || undefined, "a first look at the event loop");
  const until = performance.now() + 300;
  while (performance.now() < until);
  await eventually(() => maximum() >= 200 || undefined, "the delay to be counted");
  end();
  const { count } = delays;
  await Bun.sleep(50);
  expect(delays.count).toBe(count);
});
