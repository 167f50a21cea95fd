import { expect, test } from "bun:test";
import { parseAttachment, parseCustomParameters, parsePositive, parseUids, parseWorkers } from "./arguments.ts";

test("--x takes any JSON object as it is", () => {
  expect(parseCustomParameters('{"a":[1,2.5,-3e2,null,{"b":true}]}')).toEqual({ a: [1, 2.5, -300, null, { b: true }] });
});

test.each(["[]", "1", "null", '"text"', "{a:1}", "", '{"n":9007199254740993}', '{"n":1e400}'])(
  "--x refuses %s",
  (text) => {
    expect(() => parseCustomParameters(text)).toThrow();
  },
);

test("an attachment's name may hold colons and spaces", () => {
  const first = parseAttachment("a: b.pdf:48213:application/pdf");
  expect(parseAttachment("c.txt:0:text/plain; charset=utf-8", first)).toEqual([
    { name: "a: b.pdf", size: 48_213, content_type: "application/pdf" },
    { name: "c.txt", size: 0, content_type: "text/plain; charset=utf-8" },
  ]);
});

test.each(["report.pdf", "report.pdf:10", "report.pdf:ten:application/pdf", ":10:text/plain", "a:-1:text/plain"])(
  "the attachment %s is refused",
  (text) => {
    expect(() => parseAttachment(text)).toThrow("name:size:type");
  },
);

test("user ids add up over several --to", () => {
  expect(parseUids("carol", parseUids("alice, bob"))).toEqual(["alice", "bob", "carol"]);
  expect(() => parseUids("alice,,bob")).toThrow("with commas between");
});

test.each(["0", "-1", "1.5", "ten", "", "9999999999999999"])("%p is no whole number from 1", (text) => {
  expect(() => parsePositive(text)).toThrow("whole number");
});

test("workers are 1 to 128", () => {
  expect(["1", "128"].map(parseWorkers)).toEqual([1, 128]);
  for (const text of ["0", "129", "-1", "1.5", "", "many", "1e2"]) expect(() => parseWorkers(text)).toThrow("1 to 128");
});
