import { expect, test } from "bun:test";
import { createEndsSoon } from "./long-bodies.ts";

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
  const endsSoon = createEndsSoon();
  expect(await endsSoon(callWith(["a", "b"], { hasEnd: true }))).toBe(true);
  expect(await endsSoon(callWith(Array<string>(20).fill("x".repeat(65_536)), { hasEnd: true }))).toBe(false);
  expect(await endsSoon(callWith(["a"], { hasEnd: false }))).toBe(false);
});

test("twenty calls in a second whose body nobody sees wait a moment for its end", async () => {
  const endsSoon = createEndsSoon();
  const unseen = { body: null, bodyUsed: false } as Request;
  const told: number[] = [];
  const calls = Array.from({ length: 21 }, (_, index) => endsSoon(unseen).then(() => told.push(index)));
  await Promise.race([...calls, Bun.sleep(5)]);
  expect(told).toEqual([20]);
  await Promise.all(calls);
});

test("a body that somebody reads is left alone", async () => {
  const call = callWith(["a"], { hasEnd: true });
  const reader = call.body?.getReader();
  expect(await createEndsSoon()(call)).toBe(false);
  expect((await reader?.read())?.done).toBe(false);
});

test("eight calls wait at a time; others are told at once", async () => {
  const endsSoon = createEndsSoon();
  const waiting = Array.from({ length: 8 }, () => endsSoon(callWith(["a"], { hasEnd: false })));
  expect(await endsSoon(callWith(["a"], { hasEnd: true }))).toBe(false);
  await Promise.all(waiting);
  expect(await endsSoon(callWith(["a"], { hasEnd: true }))).toBe(true);
});
