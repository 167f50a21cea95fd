import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import { untilSignal } from "./signals.ts";

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
])("the first signal stops, an echo of it is nothing, a second %s exits with %d", async (signal, exitCode) => {
  const process = new EventEmitter();
  const exits: number[] = [];
  let nowMs = 1_000;
  const stopped = untilSignal(
    process,
    (code) => exits.push(code),
    () => nowMs,
  );
  process.emit("SIGINT");
  await stopped;
  nowMs += 300;
  process.emit(signal);
  expect(exits).toEqual([]);
  nowMs += 1;
  process.emit(signal);
  expect(exits).toEqual([exitCode]);
});
