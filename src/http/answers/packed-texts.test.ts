import { expect, test } from "bun:test";
import { createPackedTexts, type PackedTexts } from "./packed-texts.ts";

const type = "text/plain; charset=utf-8";

/** Asks for a text of a thousand characters, and records when it is written. */
function ask(texts: PackedTexts, written: string[]) {
  return (key: string) =>
    texts.of(key, () => {
      written.push(key);
      return { type, text: key.repeat(1_000) };
    });
}

test("a text is written and compressed once, also for those who ask while it is", async () => {
  const written: string[] = [];
  const text = ask(createPackedTexts(), written);
  const [file, same] = await Promise.all([text("a"), text("a")]);
  expect([same === file, (await text("a")) === file, written]).toEqual([true, true, ["a"]]);
  expect([file.type, new TextDecoder().decode(Bun.gunzipSync(file.bytes.gzip))]).toEqual([type, "a".repeat(1_000)]);
  expect(file.bytes.br.byteLength).toBeLessThan(100);
});

test("a bounded number of bytes is kept: the oldest texts go first", async () => {
  const written: string[] = [];
  const text = ask(createPackedTexts(2_500), written);
  for (const key of ["a", "b", "c", "c", "b", "a"]) await text(key);
  expect(written).toEqual(["a", "b", "c", "a"]);
});

test("a failure is reported, and the next caller tries again", async () => {
  const texts = createPackedTexts();
  const failed = texts.of("a", () => Promise.reject(new Error("not now")));
  const other = texts.of("b", () => ({ type, text: "b" }));
  expect((await Promise.allSettled([failed, other])).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  expect((await texts.of("a", () => ({ type, text: "a" }))).type).toBe(type);
});
