import { expect, test } from "bun:test";
import { createQueue } from "./queue.ts";

test("runs one piece after another, in turns, and what fails holds up nothing", async () => {
  const queue = createQueue();
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
    queue.add("shared", work("s1")),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled", "fulfilled"]);
  const order = ["a1", "s1", "a2", "b1", "a3"];
  expect(log).toEqual(order.flatMap((name) => [`${name} begins`, `${name} ends`]));
  await queue.idle();
});

test("lets the event loop turn between pieces, so that what comes meanwhile has the next turn", async () => {
  const queue = createQueue();
  const log: string[] = [];
  const steps = async () => {
    for (let step = 0; step < 5; step++)
      await queue.add({ of: "a" }, async () => {
        log.push("step");
        if (step === 0) setImmediate(() => void queue.add("shared", async () => void log.push("batch")));
      });
  };
  await steps();
  await queue.idle();
  expect(log.indexOf("batch")).toBeWithin(1, 3);
});
