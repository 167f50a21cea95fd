import { expect, test } from "bun:test";
import { createThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import { createEndsSoon } from "./long-bodies.ts";

function useEndsSoon() {
  const endsSoon = createEndsSoon(createThreadScheduler());
  return (call: Request) => endsSoon(call, "name");
}

/** A call whose body has these pieces, and then an end or none. */
function callWith(pieces: string[], { hasEnd }: { hasEnd: boolean }): Request {
  const left = pieces.map((piece) => new TextEncoder().encode(piece));
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = left.shift();
      if (piece !== undefined) controller.enqueue(piece);
      else if (hasEnd) controller.close();
      else return new Promise(() => undefined);
      return undefined;
    },
  });
  return new Request("http://herald.test/", { method: "POST", body });
}

test("a body that ends is read to its end, and one that is too long or never ends is not", async () => {
  const ends = (pieces: string[], hasEnd: boolean) => useEndsSoon()(callWith(pieces, { hasEnd }));
  expect(await ends(["a", "b"], true)).toBe(true);
  expect(await ends(Array<string>(16).fill("x".repeat(65_536)), true)).toBe(true);
  expect(await ends(Array<string>(17).fill("x".repeat(65_536)), true)).toBe(false);
  expect(await ends(["a"], false)).toBe(false);
});

test("a call whose body nobody sees waits a moment for its end", async () => {
  const unseen = { body: null, bodyUsed: false } as Request;
  const startedAt = performance.now();
  expect(await useEndsSoon()(unseen)).toBe(false);
  expect(performance.now() - startedAt).toBeGreaterThan(5);
});

test("a body that somebody reads is left alone", async () => {
  const call = callWith(["a"], { hasEnd: true });
  const reader = call.body?.getReader();
  expect(await useEndsSoon()(call)).toBe(false);
  expect((await reader?.read())?.done).toBe(false);
});

test("8 calls wait at a time; others are told at once", async () => {
  const endsSoon = useEndsSoon();
  const waiting = Array.from({ length: 8 }, () => endsSoon(callWith(["a"], { hasEnd: false })));
  expect(await endsSoon(callWith(["a"], { hasEnd: true }))).toBe(false);
  await Promise.all(waiting);
  expect(await endsSoon(callWith(["a"], { hasEnd: true }))).toBe(true);
});
