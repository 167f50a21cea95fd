import { expect, test } from "bun:test";
import {
  parseAhead,
  parseAttachment,
  parseCidrs,
  parseCustomParameters,
  parseExpiry,
  parsePast,
  parsePositive,
  parseScopes,
  parseUids,
  parseWhole,
  parseWorkers,
} from "./arguments.ts";

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
  expect(parseAttachment("a:1:b.png:7:image/png:01a1fb4a-6a00-7000-8000-000000000002")).toEqual([
    { name: "a:1:b.png", size: 7, content_type: "image/png", file_id: "01a1fb4a-6a00-7000-8000-000000000002" },
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
  expect(() => parseUids("alice,,bob")).toThrow("Separate user ids with commas");
});

test.each(["0", "-1", "1.5", "ten", "", "9999999999999999"])("%p is no whole number from 1", (text) => {
  expect(() => parsePositive(text)).toThrow("whole number");
});

test("workers are 1 to 128", () => {
  expect(["1", "128"].map(parseWorkers)).toEqual([1, 128]);
  for (const text of ["0", "129", "-1", "1.5", "", "many", "1e2"]) expect(() => parseWorkers(text)).toThrow("1 to 128");
});

test("scopes and networks are lists too", () => {
  expect(parseScopes("observe", parseScopes("message:send, history:read"))).toEqual([
    "message:send",
    "history:read",
    "observe",
  ]);
  expect(parseCidrs("10.0.0.0/8,2001:db8::/32")).toEqual(["10.0.0.0/8", "2001:db8::/32"]);
  expect(() => parseScopes("observe,")).toThrow("Separate scopes with commas");
  expect(() => parseCidrs("")).toThrow("Separate networks with commas");
});

test("the end of a key is a time or a span from now", () => {
  const now = Date.UTC(2026, 10, 20);
  expect(["30m", "12h", "90d"].map((text) => parseExpiry(text, undefined, now))).toEqual([
    "2026-11-20T00:30:00.000Z",
    "2026-11-20T12:00:00.000Z",
    "2027-02-18T00:00:00.000Z",
  ]);
  expect(parseExpiry("2027-01-31T12:00:00+01:00")).toBe("2027-01-31T11:00:00.000Z");
  expect(parseExpiry("2027-01-31")).toBe("2027-01-31T00:00:00.000Z");
});

test("a time of the past is a time or how long ago it was", () => {
  const now = Date.UTC(2026, 10, 20);
  expect(parsePast("12h", undefined, now)).toBe("2026-11-19T12:00:00.000Z");
  expect(parsePast("2026-01-31")).toBe("2026-01-31T00:00:00.000Z");
  expect(() => parsePast("yesterday")).toThrow("or a duration");
});

test("the time of a scheduled send is a time or a span from now", () => {
  const now = Date.UTC(2026, 10, 20);
  expect(["30s", "10m", "in 2h", "in 1d"].map((text) => parseAhead(text, undefined, now))).toEqual([
    "2026-11-20T00:00:30.000Z",
    "2026-11-20T00:10:00.000Z",
    "2026-11-20T02:00:00.000Z",
    "2026-11-21T00:00:00.000Z",
  ]);
  expect(parseAhead("2027-01-31T12:00:00+01:00")).toBe("2027-01-31T11:00:00.000Z");
  for (const text of ["", "in", "in a while", "0s", "10 m"]) expect(() => parseAhead(text)).toThrow("or a duration");
});

test.each(["", "0d", "1.5h", "90", "d", "1y", "soon", "1234567d", "2027-13-01"])("%p is no end of a key", (text) => {
  expect(() => parseExpiry(text)).toThrow("or a duration");
});

test("a whole number may be 0", () => {
  expect([parseWhole("0"), parseWhole("604800")]).toEqual([0, 604_800]);
  for (const text of ["-1", "1.5", "01", "", "x"]) expect(() => parseWhole(text)).toThrow("whole number");
});
