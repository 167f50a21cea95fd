import { defaultPayloadLimits } from "../../src/contract/limits.ts";
import { createOperations } from "../../src/contract/operations/all.ts";
import type { Operation } from "../../src/contract/operations/operation.ts";
import type { Random } from "../harness/random.ts";
import { encode, hostileTexts, spoil } from "./json.ts";
import { anyBytes, damage, once, pick } from "./pick.ts";

/** The bytes of one request. `isHttp`: they are HTTP/1.1 and whole, so that an answer must come. */
export type HttpCase = { kind: string; chunks: Buffer[]; isHttp: boolean };

/** Where requests go: ids of things that exist, with which some of them get past the first checks. */
export type Place = { key: string; token: string; org: string; uid: string; cid: string };

const operations = Object.values<Operation>(createOperations(defaultPayloadLimits)) as [Operation, ...Operation[]];
const crlf = "\r\n";

function segment(random: Random, known: string | undefined): string {
  if (known !== undefined && !once(random, 4)) return encodeURIComponent(known);
  if (once(random, 6))
    return pick(random, [
      "%",
      "%2",
      "%ff",
      "%c0%af",
      "%00",
      "%0a",
      "%2f",
      "%2e%2e",
      ".",
      "..",
      "%ed%a0%80",
      "//",
      ";a=b",
    ]);
  return encodeURIComponent(pick(random, hostileTexts).toWellFormed());
}

function queryOf(random: Random, { query }: Operation): string {
  if (!once(random, 3)) return "";
  const names = [
    "limit",
    "cursor",
    "unknown",
    "__proto__",
    ...Object.keys("shape" in query ? Object(query.shape) : {}),
  ];
  const values = [
    "",
    "0",
    "1",
    "1001",
    "1e3",
    "-1",
    "%",
    "%ff",
    "a%00b",
    "true",
    "eyJpZCI6ImEifQ",
    "bnVsbA",
    "W10",
    ",,,",
    "x".repeat(2_000),
  ];
  const pairs = Array.from(
    { length: random.integer(1, 3) },
    () => `${pick(random, names as [string])}${once(random, 9) ? "" : "="}${pick(random, values as [string])}`,
  );
  return `?${pairs.join(pick(random, ["&", "&&", ";"]))}`;
}

type Parts = { method: string; target: string; headers: string[]; body: Buffer };

/** A request for an operation of the contract, whole and with a valid key, its ids, query and body hostile. */
function callOf(random: Random, place: Place): Parts {
  const operation = pick(random, operations);
  // What exists is not deleted, so that the cases after it get as far as they would without it.
  const deletes = operation.method === "delete";
  const org = deletes && operation.path.endsWith("{org}") ? {} : { org: place.org };
  const known: Record<string, string> = { ...org, ...(!deletes && { uid: place.uid, cid: place.cid }) };
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(random, known[name]));
  const headers = [`Admin-Api-Key: ${place.key}`];
  let body: Buffer = Buffer.alloc(0);
  if (operation.bodyExample !== undefined || once(random, 8)) {
    const example = JSON.parse(JSON.stringify(operation.bodyExample ?? {}));
    if ("organizationId" in example) Object.assign(example, { organizationId: place.org, senderId: place.uid });
    if ("message" in example) Object.assign(example.message, { cid: place.cid, id: undefined });
    body = encode(random, once(random, 6) ? JSON.stringify(example) : spoil(random, example));
    headers.push(
      once(random, 12)
        ? pick(random, [
            "Content-Type: text/plain",
            "Content-Type: application/json; charset=latin1",
            "Content-Type:",
            "Content-Encoding: gzip",
            "Content-Type: multipart/form-data; boundary=x",
          ])
        : "Content-Type: application/json",
    );
  }
  return { method: operation.method.toUpperCase(), target: path + queryOf(random, operation), headers, body };
}

function head({ method, target, headers }: Parts, ...more: string[]): string {
  return [`${method} ${target} HTTP/1.1`, "Host: localhost", ...headers, ...more].join(crlf) + crlf + crlf;
}

function chunked(random: Random, body: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let from = 0; from < body.length; ) {
    const size = random.integer(1, Math.max(1, body.length - from));
    const extension = once(random, 6) ? ";a=b" : "";
    parts.push(
      Buffer.from(`${size.toString(16)}${extension}${crlf}`),
      body.subarray(from, from + size),
      Buffer.from(crlf),
    );
    from += size;
  }
  return [...parts, Buffer.from(`0${crlf}${once(random, 6) ? `X-Trailer: 1${crlf}` : ""}${crlf}`)];
}

/** Requests that are HTTP, and whole: every one of them gets a documented answer. */
const whole: Record<string, (random: Random, place: Place) => Buffer[]> = {
  "a hostile call"(random, place) {
    const parts = callOf(random, place);
    return [Buffer.from(head(parts, `Content-Length: ${parts.body.length}`)), parts.body];
  },
  "a hostile call in chunks"(random, place) {
    const parts = callOf(random, place);
    return [Buffer.from(head(parts, "Transfer-Encoding: chunked")), ...chunked(random, parts.body)];
  },
  "an odd method"(random, place) {
    const parts = {
      ...callOf(random, place),
      method: pick(random, ["PATCH", "OPTIONS", "DELETE", "PUT", "POST", "PROPFIND", "PURGE"]),
    };
    return [Buffer.from(head(parts, `Content-Length: ${parts.body.length}`)), parts.body];
  },
  "an odd credential"(random, place) {
    const parts = callOf(random, place);
    const key = pick(random, ["", "x", place.token, `${place.key}x`, "hk_0_0", `hk_${"a".repeat(4_000)}`, "hk_\u00ff"]);
    return [
      Buffer.from(
        head(
          { ...parts, headers: [`Admin-Api-Key: ${key}`, "Content-Type: application/json"] },
          `Content-Length: ${parts.body.length}`,
        ),
        "latin1",
      ),
      parts.body,
    ];
  },
  "an odd stream"(random, place) {
    const token = pick(random, [
      "",
      "Bearer",
      "Bearer x",
      "Basic eDp4",
      `Bearer ${place.token}x`,
      `Bearer ${"e30.".repeat(2_000)}`,
      `bearer  ${place.key}`,
    ]);
    const target = pick(random, ["/sse", "/ws", "/sse/", "/sse?token=x"]);
    return [
      Buffer.from(
        `GET ${target} HTTP/1.1${crlf}Host: x${crlf}Authorization: ${token}${crlf}Last-Event-ID: ${pick(random, ["x", "\u00ff", "%00"])}${crlf}${crlf}`,
        "latin1",
      ),
    ];
  },
};

/** What is no HTTP/1.1, or two readings of it, or not whole: refused, or the connection ends. Never served twice, never left hanging. */
const broken: Record<string, (random: Random, place: Place) => Buffer[]> = {
  "two lengths that differ": (random, place) => withFraming(random, place, ["Content-Length: 4", "Content-Length: 5"]),
  "a length and chunks": (random, place) =>
    withFraming(random, place, [`Content-Length: ${random.integer(0, 9)}`, "Transfer-Encoding: chunked"]),
  "an odd transfer coding": (random, place) =>
    withFraming(random, place, [
      pick(random, [
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding:\u000bchunked",
        "Transfer-Encoding: gzip, chunked",
      ]),
    ]),
  "an odd length": (random, place) =>
    withFraming(random, place, [
      `Content-Length: ${pick(random, ["-1", "+2", "0x2", "2,2", "1e1", " ", "99999999999999999999", "2 2"])}`,
    ]),
  "odd chunks": (random, place) =>
    withFraming(
      random,
      place,
      ["Transfer-Encoding: chunked"],
      pick(random, [
        "zz\r\n{}\r\n0\r\n\r\n",
        "2\n{}\n0\n\n",
        "-2\r\n{}\r\n0\r\n\r\n",
        "FFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n",
        "2\r\n{}x\r\n0\r\n\r\n",
        "2\r\n{}",
      ]),
    ),
  "a length that lies": (random, place) => withFraming(random, place, ["Content-Length: 5000"], '{"name":'),
  "an odd header": (random, place) =>
    withFraming(random, place, [
      pick(random, [
        "X-A: 1\r\n folded",
        "no colon",
        ": no name",
        "X A: 1",
        "X-A: \u0000",
        "X-A: a\rb",
        "X-A: a\nb",
        `X-${"a".repeat(20_000)}: 1`,
        `X-A: ${"a".repeat(70_000)}`,
      ]),
      "Content-Length: 2",
    ]),
  "many headers": (random, place) =>
    withFraming(random, place, [
      ...Array.from({ length: random.integer(50, 3_000) }, (_, index) => `X-${index}: 1`),
      "Content-Length: 2",
    ]),
  "an odd request line": (random, place) => [
    Buffer.from(
      `${pick(random, ["GET /healthz", "GET  /healthz HTTP/1.1", "GET /healthz HTTP/1.0", "GET /healthz HTTP/0.9", "GET /healthz HTTP/2.0", "GET healthz HTTP/1.1", "GET http://evil.example/healthz HTTP/1.1", "GET * HTTP/1.1", "OPTIONS * HTTP/1.1", "CONNECT x:443 HTTP/1.1", "BREW /healthz HTTP/1.1", "get /healthz HTTP/1.1", "GET /heal\u0001thz HTTP/1.1", "PRI * HTTP/2.0", "\u0016\u0003\u0001", `GET /${"a".repeat(40_000)} HTTP/1.1`])}\r\n${pick(random, ["Host: x\r\n", "", "Host:\r\n", "Host: a\r\nHost: b\r\n", "Host: [::1\r\n", "Host: a b\r\n"])}Admin-Api-Key: ${place.key}\r\n\r\n`,
      "latin1",
    ),
  ],
  "bare line feeds": (_, place) => [
    Buffer.from(`GET /admin/organizations HTTP/1.1\nHost: x\nAdmin-Api-Key: ${place.key}\n\n`),
  ],
  "damaged bytes": (random, place) => [damage(random, Buffer.concat(whole["a hostile call"]?.(random, place) ?? []))],
  "any bytes": (random) => [anyBytes(random, 2_000), Buffer.from("\r\n\r\n")],
  "half a request": (random, place) => {
    const bytes = Buffer.concat(whole["a hostile call"]?.(random, place) ?? []);
    return [bytes.subarray(0, random.integer(1, Math.min(bytes.length - 1, 400)))];
  },
};

function withFraming(random: Random, place: Place, headers: string[], body = "{}"): Buffer[] {
  const parts = {
    method: "PUT",
    target: `/admin/organizations/${encodeURIComponent(place.org)}`,
    headers: [`Admin-Api-Key: ${place.key}`, "Content-Type: application/json"],
  };
  const bytes = Buffer.from(head({ ...parts, body: Buffer.alloc(0) }, ...headers), "latin1");
  return once(random, 4)
    ? [bytes, Buffer.from(body), Buffer.from(`GET /smuggled HTTP/1.1${crlf}Host: x${crlf}${crlf}`)]
    : [bytes, Buffer.from(body)];
}

/** One case of any kind, the same for the same `random`. */
export function makeHttpCase(random: Random, place: Place): HttpCase {
  const isHttp = !once(random, 3);
  const kinds = Object.entries(isHttp ? whole : broken) as [[string, (random: Random, place: Place) => Buffer[]]];
  const [kind, make] = pick(random, kinds);
  return { kind, isHttp, chunks: make(random, place) };
}
