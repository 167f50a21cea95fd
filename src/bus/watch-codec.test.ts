import { expect, test } from "bun:test";
import { someNews } from "./testing/bus-setup.ts";
import { newsPart, partsOf, watchQuestion } from "./watch-codec.ts";

test("news that fit are one part, and others are split between users, with the missed first and the end last", () => {
  expect([...partsOf(someNews)]).toEqual([someNews]);
  const uids = (name: string) => Array.from({ length: 3_000 }, (_, index) => `${name} ${"\u0001é".repeat(10)}${index}`);
  const news = { online: uids("o"), missed: uids("m"), acknowledged: uids("a"), isPlayed: true, isDone: true };
  const parts = [...partsOf(news)];
  for (const part of parts) expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThan(66_000);
  expect({
    online: parts.flatMap(({ online }) => online),
    missed: parts.flatMap(({ missed }) => missed),
    acknowledged: parts.flatMap(({ acknowledged }) => acknowledged),
    isPlayed: parts.at(-1)?.isPlayed ?? false,
    isDone: parts.at(-1)?.isDone ?? false,
  }).toEqual(news);
  expect(parts.slice(0, -1).some(({ isPlayed, isDone }) => isPlayed || isDone)).toBe(false);
  const [first, last] = [
    parts.findIndex(({ online }) => online.length > 0),
    parts.findLastIndex(({ missed }) => missed.length > 0),
  ];
  expect(first).toBeGreaterThanOrEqual(last);
});

test("what has another shape is unreadable", () => {
  const watch = { org: "o", event: "e", ack: "a", forMs: 1 };
  expect(watchQuestion.parse({ ask: "x", from: "n", watch })).toEqual({ ask: "x", from: "n", watch });
  expect(watchQuestion.parse({ ask: "x", from: "n", watch: null })).toEqual({ ask: "x", from: "n", watch: null });
  for (const odd of [
    undefined,
    {},
    { ask: "", from: "n", watch },
    { ask: "x", from: "n.>", watch },
    { ask: "x", from: "n", watch: { ...watch, forMs: -1 } },
    { ask: "x", from: "n", watch: { ...watch, org: 1 } },
  ])
    expect(watchQuestion.safeParse(odd).success).toBe(false);
  expect<unknown>(newsPart.parse({ node: "n", part: 0, news: someNews })).toEqual({
    node: "n",
    part: 0,
    news: someNews,
  });
  for (const odd of [
    {},
    { node: "n", part: -1, news: someNews },
    { node: "n", part: 0, news: { ...someNews, missed: 1 } },
  ])
    expect(newsPart.safeParse(odd).success).toBe(false);
});
