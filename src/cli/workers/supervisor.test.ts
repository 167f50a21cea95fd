import { expect, test } from "bun:test";
import { createSupervisor, type Worker } from "./supervisor.ts";

/** A process that runs this script of a shell, and is ready when it says so. */
function run(script: string, ready: "at once" | "when it prints" | "never"): Worker {
  const child = Bun.spawn(["sh", "-c", script], { stdio: ["ignore", "pipe", "ignore"] });
  const readiness = {
    "at once": () => Promise.resolve(),
    "when it prints": () => child.stdout.getReader().read(),
    never: () => new Promise<void>(() => undefined),
  };
  return { pid: child.pid, ready: readiness[ready](), exited: child.exited, kill: (signal) => child.kill(signal) };
}

test("a worker that cannot start ends the start with its exit code, before the others begin", async () => {
  const begun: number[] = [];
  const supervisor = createSupervisor({
    count: 3,
    spawn(number) {
      begun.push(number);
      return run("exit 2", "never");
    },
    onEnd: () => undefined,
  });
  expect(await supervisor.start()).toEqual({ outcome: "failed", code: 2 });
  expect(begun).toEqual([1]);
});

test("one that ends again and again is started again, each time after a wait; the others run on", async () => {
  const spawned: number[] = [];
  const ended: { worker: number; code: number; delayMs: number }[] = [];
  const enough = Promise.withResolvers<void>();
  const supervisor = createSupervisor({
    count: 2,
    spawn(number) {
      spawned.push(number);
      return run(number === 1 ? "exec sleep 60" : "exit 3", "at once");
    },
    onEnd({ worker, code, delayMs }) {
      ended.push({ worker, code, delayMs });
      if (ended.length === 3) enough.resolve();
    },
  });
  expect(await supervisor.start()).toEqual({ outcome: "ready" });
  const kept = supervisor.keep();
  await enough.promise;
  expect(await supervisor.stop()).toBe(true);
  await kept;
  expect(spawned).toEqual([1, 2, 2, 2]);
  expect(ended.map(({ worker, code }) => ({ worker, code }))).toEqual(Array(3).fill({ worker: 2, code: 3 }));
  for (const [index, { delayMs }] of ended.entries()) expect(delayMs).toBeLessThanOrEqual(500 * 2 ** index);
});

test("told to stop while it starts, it begins no more workers", async () => {
  const begun: number[] = [];
  const supervisor = createSupervisor({
    count: 3,
    spawn(number) {
      begun.push(number);
      return run("exec sleep 60", "never");
    },
    onEnd: () => undefined,
  });
  const start = supervisor.start();
  expect(await supervisor.stop()).toBe(true);
  expect(await start).toEqual({ outcome: "stopped" });
  expect(begun).toEqual([1]);
});

test("a worker that ends otherwise than with 0 when it is told to stop is told of", async () => {
  const supervisor = createSupervisor({
    count: 1,
    spawn: () => run("trap 'exit 1' TERM; echo ready; while :; do sleep 0.01; done", "when it prints"),
    onEnd: () => undefined,
  });
  await supervisor.start();
  expect(await supervisor.stop()).toBe(false);
});
