import { expect, test } from "bun:test";
import { nextTurn } from "../event-loop/next-turn.ts";
import { createOrderedWindow } from "./ordered-window.ts";

/** Work that ends when the test says so. */
function begin(window: ReturnType<typeof createOrderedWindow<number>>, weight = 1) {
  const { promise, resolve } = Promise.withResolvers<number>();
  window.add(promise, weight);
  return resolve;
}

async function isPending(promise: Promise<unknown> | undefined): Promise<boolean> {
  if (promise === undefined) return false;
  const pending = Symbol("pending");
  await nextTurn();
  await nextTurn();
  return (await Promise.race([promise, Promise.resolve(pending)])) === pending;
}

test("results are taken in the order of their beginnings, all that are ready at once", async () => {
  const window = createOrderedWindow<number>({ items: 10, weight: 10 });
  const [first, second, third] = [begin(window), begin(window), begin(window)];
  const taking = window.take();
  third(3);
  second(2);
  expect(await isPending(taking)).toBe(true);
  first(1);
  expect(await taking).toEqual([1, 2, 3]);
  window.close();
  expect(await window.take()).toBeUndefined();
});

test("there is room until as many have begun as may, and again once one is taken", async () => {
  const window = createOrderedWindow<number>({ items: 2, weight: 100 });
  const first = begin(window);
  expect(window.room()).toBeUndefined();
  begin(window);
  const room = window.room();
  first(1);
  expect(await isPending(room)).toBe(true); // ready, but not taken
  expect(await window.take()).toEqual([1]);
  expect(await isPending(room)).toBe(false);
});

test("weight counts until it is taken, and what is heavier than all goes alone", async () => {
  const window = createOrderedWindow<number>({ items: 10, weight: 5 });
  const heavy = begin(window, 50);
  const room = window.room();
  expect(await isPending(room)).toBe(true);
  heavy(1);
  expect(await window.take()).toEqual([1]);
  expect(await isPending(room)).toBe(false);
  begin(window, 4);
  expect(window.room()).toBeUndefined();
  begin(window, 1);
  expect(window.room()).toBeDefined();
});

test("a closed window gives what it holds, lets nobody wait for room, and settles", async () => {
  const window = createOrderedWindow<number>({ items: 1, weight: 1 });
  const first = begin(window);
  const room = window.room();
  const settled = window.settle();
  window.close();
  expect(await isPending(room)).toBe(false);
  expect(window.room()).toBeUndefined();
  const taking = window.take();
  expect(await isPending(settled)).toBe(true);
  first(1);
  await settled;
  expect(await taking).toEqual([1]);
  expect(await window.take()).toBeUndefined();
});

test("whoever waits in an empty window is told of its end", async () => {
  const window = createOrderedWindow<number>({ items: 1, weight: 1 });
  const taking = window.take();
  window.close();
  expect(await taking).toBeUndefined();
});
