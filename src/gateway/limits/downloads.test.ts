import { expect, test } from "bun:test";
import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import { createSteppedThread } from "../../lib/event-loop/testing/stepped-thread.ts";
import { createDownloads } from "./downloads.ts";

const request = { signal: new AbortController().signal };

function useDownloads() {
  const thread = createSteppedThread();
  const downloads = createDownloads({
    budgets: { require: () => undefined, charge: () => undefined },
    thread,
    onError(error) {
      throw error;
    },
  });
  return { thread, downloads };
}

test.each([
  ["enter", "192.0.2.1", "192.0.2.2"],
  ["turn", "many", "other"],
] as const)("those who `%s` take turns by name", async (step, many, other) => {
  const { thread, downloads } = useDownloads();
  const passed: string[] = [];
  const ask = (name: string) => void downloads[step](name, request).then(() => passed.push(name));
  for (let count = 0; count < 20; count++) ask(many);
  ask(other);
  for (let turn = 0; turn < 2; turn++) {
    await nextTurn();
    thread.step();
  }
  await nextTurn();
  expect(passed).toEqual([many, many, other]);
});

test("a request whose client hangs up while it waits goes no further", async () => {
  const { thread, downloads } = useDownloads();
  await downloads.turn("org", request);
  const leaving = new AbortController();
  const waiting = downloads.turn("org", { signal: leaving.signal });
  leaving.abort();
  await expect(waiting).rejects.toThrow("the client has disconnected");
  expect(thread.waiting).toBe(0);
});

test("a request that need not wait does not read its signal, which Bun creates when it is first read", async () => {
  const { downloads } = useDownloads();
  let reads = 0;
  const watched = {
    get signal() {
      reads++;
      return request.signal;
    },
  };
  await downloads.turn("org", watched);
  expect(reads).toBe(0);
});
