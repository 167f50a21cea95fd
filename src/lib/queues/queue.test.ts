import { expect, test } from "bun:test";
import { createQueue } from "./queue.ts";

test("runs one piece at a time, in turns, and continues after a failure", async () => {
  const queue = createQueue(() => new Error("closed"));
  const log: string[] = [];
  const work = (name: string) => async () => {
    log.push(`${name} begins`);
    await Promise.resolve();
    log.push(`${name} ends`);
    if (name === "a2") throw new Error("broken");
    return name;
  };
  const results = await Promise.allSettled([
    queue.add({ of: "a" }, work("a1")),
    queue.add({ of: "a" }, work("a2")),
    queue.add({ of: "a" }, work("a3")),
    queue.add({ of: "b" }, work("b1")),
    queue.add("batch", work("s1")),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled", "fulfilled"]);
  const order = ["a1", "s1", "a2", "b1", "a3"];
  expect(log).toEqual(order.flatMap((name) => [`${name} begins`, `${name} ends`]));
  await queue.close();
});

test("lets the event loop turn between pieces, so that work that arrives meanwhile gets the next turn", async () => {
  const queue = createQueue(() => new Error("closed"));
  const log: string[] = [];
  const steps = async () => {
    for (let step = 0; step < 5; step++)
      await queue.add({ of: "a" }, async () => {
        log.push("step");
        if (step === 0) setImmediate(() => void queue.add("batch", async () => void log.push("batch")));
      });
  };
  await steps();
  await queue.close();
  expect(log.indexOf("batch")).toBeWithin(1, 3);
});

test("finishes what was added before its close, and refuses what comes later", async () => {
  const queue = createQueue(() => new Error("closed"));
  const log: string[] = [];
  const steps = async () => {
    await queue.add({ of: "a" }, async () => void log.push("first step"));
    await queue.add({ of: "a" }, async () => void log.push("second step"));
  };
  const work = Promise.allSettled([steps(), queue.add({ of: "b" }, async () => void log.push("other"))]);
  await queue.close();
  expect((await work).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  expect(log).toEqual(["first step", "other"]);
});
