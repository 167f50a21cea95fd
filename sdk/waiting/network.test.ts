import { expect, test } from "bun:test";
import { sleepUntilOnline } from "./network.ts";

const never = new AbortController().signal;
const long = 60_000;

test("a wait ends when the network is back, when it is aborted, and by itself", async () => {
  const browser = new EventTarget();
  const waiting = sleepUntilOnline(long, never, browser);
  browser.dispatchEvent(new Event("online"));
  await waiting;
  const abort = new AbortController();
  const aborted = sleepUntilOnline(long, abort.signal, browser);
  abort.abort();
  await aborted;
  await sleepUntilOnline(long, abort.signal, browser);
  await sleepUntilOnline(1, never, browser);
});

test("where nothing tells of the network it is a wait like any other", async () => {
  await sleepUntilOnline(1, never, {});
  expect(await sleepUntilOnline(1, never)).toBeUndefined();
});
