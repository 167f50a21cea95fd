import { expect, test } from "bun:test";
import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import { createSteppedThread } from "../../lib/event-loop/testing/stepped-thread.ts";
import { createThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import { type Call, newCall, type Runtime } from "../calls.ts";
import { createHeldAnswers } from "./held-answers.ts";

const runtime: Runtime = { requestIP: () => ({ address: "192.0.2.1" }), timeout: () => undefined };

type Facts = { status: number; keyId?: string; address?: string; bodyBytes?: number; isEndless?: boolean };

function useHeld() {
  const thread = createSteppedThread();
  const { hold } = createHeldAnswers({ clientAddress: () => "192.0.2.1", isOneTooMany: () => false, thread });
  const answered: Response[] = [];
  let dropped = 0;
  return {
    thread,
    answered,
    /** The number of dropped bodies. */
    dropped: () => dropped,
    async answer({ status, keyId, address, bodyBytes, isEndless = false }: Facts) {
      const body = new ReadableStream({ cancel: () => void dropped++ });
      const request = new Request("http://herald.test/", {
        method: "POST",
        ...(bodyBytes !== undefined && { body, headers: { "content-length": `${bodyBytes}` } }),
        ...(isEndless && { body, headers: { "transfer-encoding": "chunked" } }),
      });
      const call: Call = { ...newCall(request, { from: runtime }), status, keyId, address };
      const response = new Response(null, { status });
      await hold(request, call, response);
      answered.push(response);
    },
  };
}

const crowd = 100;

test("responses without a key wait for their turns, by address", async () => {
  const { thread, answered, answer } = useHeld();
  for (let count = 0; count < crowd; count++) void answer({ status: 200, address: "192.0.2.1" });
  void answer({ status: 200, address: "192.0.2.2" }).then(() => thread.open());
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  expect([answered.length, thread.waiting]).toEqual([1, crowd]);
  thread.step(); // another one of the many
  thread.step();
  await nextTurn();
  await nextTurn();
  await nextTurn();
  expect(thread.waiting).toBeLessThan(crowd - 2); // all go on once the other one has its answer
});

test("the refusal of a call with a key is sent in the next turn", async () => {
  const { answered, answer } = useHeld();
  for (let count = 0; count < crowd; count++) void answer({ status: 404, keyId: "many" });
  await nextTurn();
  expect(answered).toHaveLength(crowd);
});

test("no body is held: the bodies of waiting responses are dropped, and no connection is closed", async () => {
  const { answered, dropped, answer } = useHeld();
  for (let count = 0; count < crowd; count++)
    void answer({ status: 401, address: `192.0.2.${count}`, bodyBytes: 1_048_576 });
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  const closed = answered.filter(({ headers }) => headers.get("connection") === "close");
  expect([dropped(), closed.length, answered.length]).toEqual([crowd, 0, 1]);
});

test("a body that may have no end is not read while its response waits; beyond eight of them, nothing waits", async () => {
  const { answered, dropped, answer } = useHeld();
  for (let count = 0; count < 20; count++) void answer({ status: 413, keyId: "many", isEndless: true });
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  expect([dropped(), answered.length]).toEqual([0, 13]); // 12 beyond, and one that had its turn
});

test("a body that was read is answered like any other", async () => {
  const { hold } = createHeldAnswers({
    clientAddress: () => "192.0.2.1",
    isOneTooMany: () => false,
    thread: createThreadScheduler(),
  });
  const request = new Request("http://herald.test/", { method: "POST", body: "read" });
  await request.bytes();
  await hold(request, { ...newCall(request, { from: runtime }), status: 429, keyId: "key" }, new Response(null));
  expect(request.bodyUsed).toBe(true);
});
