import { expect, test } from "bun:test";
import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import { type Call, newCall } from "../calls.ts";
import { createHeldAnswers } from "./held-answers.ts";

const peers = { requestIP: () => ({ address: "192.0.2.1" }) };

type Facts = { status: number; keyId?: string; address?: string; bodyBytes?: number; isEndless?: boolean };

/** A pace at which no second turn comes before a slow machine has looked at the first. */
const slowPace = { perTurn: 8, turnMs: 200, unreadEveryMs: 20 };

function useHeld(pace = slowPace) {
  const { hold, end } = createHeldAnswers({
    clientAddress: () => "192.0.2.1",
    isOneTooMany: () => false,
    pace,
  });
  const answered: Response[] = [];
  let dropped = 0;
  return {
    end,
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
      const call: Call = { ...newCall(request, peers), status, keyId, address };
      const response = new Response(null, { status });
      await hold(request, call, response);
      answered.push(response);
    },
  };
}

const crowd = 100;

test("of the 429 responses some are sent at once, and the others over time", async () => {
  const { answered, answer } = useHeld();
  for (let count = 0; count < crowd; count++) void answer({ status: 429, keyId: "many" });
  await nextTurn();
  await nextTurn();
  expect(answered).toHaveLength(8);
  await answer({ status: 429, keyId: "other" }); // next after one of the crowd
  expect(answered.length).toBeLessThanOrEqual(16);
});

test("responses without a key are sent at the same rate, and addresses take turns", async () => {
  const { answered, answer } = useHeld();
  for (let count = 0; count < crowd; count++) void answer({ status: 200, address: "192.0.2.1" });
  await nextTurn();
  await answer({ status: 200, address: "192.0.2.2" });
  expect(answered.length).toBeLessThanOrEqual(16);
});

test("a response that was charged for is sent in the next turn, whatever it is", async () => {
  const { answered, answer } = useHeld();
  for (let count = 0; count < crowd; count++) void answer({ status: 404, keyId: "many" });
  await nextTurn();
  expect(answered).toHaveLength(crowd);
});

test("no body is held: the bodies of waiting responses are dropped, no connection is closed, and long ones are answered one at a time", async () => {
  const { answered, dropped, answer } = useHeld();
  for (let count = 0; count < crowd; count++) void answer({ status: 429, keyId: `key-${count}`, bodyBytes: 1_048_576 });
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  const closed = answered.filter(({ headers }) => headers.get("connection") === "close");
  expect([dropped(), closed.length, answered.length]).toEqual([crowd, 0, 1]);
});

test("a body that may have no end is not read while its response waits, whatever the response; one in 20 ms begins to wait", async () => {
  const { answered, dropped, answer } = useHeld();
  for (let count = 0; count < 10; count++) void answer({ status: 413, keyId: "many", isEndless: true });
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  expect([dropped(), answered.length]).toEqual([0, 10]); // the first one waits for its turn, which has room
  await Bun.sleep(25);
  for (let count = 0; count < 10; count++) void answer({ status: 413, keyId: "many", isEndless: true });
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  expect([dropped(), answered.length]).toEqual([0, 19]);
});

test("while 128 such responses wait, others wait for nothing", async () => {
  const { answered, answer, end } = useHeld({ perTurn: 8, turnMs: 60_000, unreadEveryMs: 0 });
  const send = () => void answer({ status: 413, keyId: "many", isEndless: true });
  for (let count = 0; count < 129; count++) {
    send();
    await Bun.sleep(2);
  }
  expect(answered).toHaveLength(1); // the first one had room
  for (let count = 0; count < 10; count++) send();
  await nextTurn();
  expect(answered).toHaveLength(11);
  end();
});

test("a body that was read is answered like any other", async () => {
  const { hold } = createHeldAnswers({ clientAddress: () => "192.0.2.1", isOneTooMany: () => false });
  const request = new Request("http://herald.test/", { method: "POST", body: "read" });
  await request.bytes();
  await hold(request, { ...newCall(request, peers), status: 429, keyId: "key" }, new Response(null));
  expect(request.bodyUsed).toBe(true);
});

test("a stopping node sends all responses", async () => {
  const { answered, answer, end } = useHeld();
  for (let count = 0; count < crowd; count++) void answer({ status: 429, keyId: "many" });
  await nextTurn();
  end();
  await nextTurn();
  expect(answered).toHaveLength(crowd);
});
