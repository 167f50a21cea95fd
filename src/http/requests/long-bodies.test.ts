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
  const ends = (pieces: string[], hasEnd: boolean) => createEndsSoon()(callWith(pieces, { hasEnd }));
  expect(await ends(["a", "b"], true)).toBe(true);
  expect(await ends(Array<string>(16).fill("x".repeat(65_536)), true)).toBe(true);
  expect(await ends(Array<string>(17).fill("x".repeat(65_536)), true)).toBe(false);
  expect(await ends(["a"], false)).toBe(false);
});

test("a call whose body nobody sees waits a moment for its end, one in 50 ms", async () => {
  const endsSoon = createEndsSoon();
  const unseen = { body: null, bodyUsed: false } as Request;
  const told: number[] = [];
  const calls = [0, 1, 2].map((index) => endsSoon(unseen).then(() => told.push(index)));
  await Promise.all(calls);
  expect(told).toEqual([1, 2, 0]);
});

test("a body that somebody reads is left alone", async () => {
  const call = callWith(["a"], { hasEnd: true });
  const reader = call.body?.getReader();
  expect(await createEndsSoon()(call)).toBe(false);
  expect((await reader?.read())?.done).toBe(false);
});

test("32 calls wait at a time; others are told at once", async () => {
  const endsSoon = createEndsSoon();
  const waiting = Array.from({ length: 32 }, () => endsSoon(callWith(["a"], { hasEnd: false })));
  expect(await endsSoon(callWith(["a"], { hasEnd: true }))).toBe(false);
  await Promise.all(waiting);
  expect(await endsSoon(callWith(["a"], { hasEnd: true }))).toBe(true);
});

test("after two bodies that were too long, one call in 50 ms waits, and for less of its body", async () => {
  const endsSoon = createEndsSoon();
  const short = () => endsSoon(callWith(["a"], { hasEnd: true }));
  const ofPieces = (count: number) =>
    endsSoon(callWith(Array<string>(count).fill("x".repeat(65_536)), { hasEnd: true }));
  expect(await Promise.all([short(), short()])).toEqual([true, true]);
  expect(await ofPieces(17)).toBe(false);
  expect(await Promise.all([short(), short(), ofPieces(5)])).toEqual([true, true, true]);
  expect(await ofPieces(17)).toBe(false);
  expect(await Promise.all([short(), short()])).toEqual([true, false]);
  await Bun.sleep(60);
  expect(await ofPieces(4)).toBe(true);
  await Bun.sleep(60);
  expect(await ofPieces(5)).toBe(false);
});
