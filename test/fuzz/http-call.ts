import { defaultPayloadLimits } from "../../src/contract/limits.ts";
import { mcpOperation } from "../../src/contract/mcp/operation.ts";
import { createOperations } from "../../src/contract/operations/all.ts";
import type { Operation } from "../../src/contract/operations/operation.ts";
import type { Random } from "../harness/random.ts";
import { encode, hostileTexts, spoil } from "./json.ts";
import { anyBytes, once, pick } from "./pick.ts";

/** Ids that exist, with which some requests pass the first checks. */
export type Place = {
  key: string;
  token: string;
  org: string;
  uid: string;
  cid: string;
  /** A webhook that leads nowhere, and a delivery of it. */
  webhook: string;
  delivery: string;
  file: string;
  /** Messages of the user that are open. */
  open: readonly [string, ...string[]];
};

const operations: [Operation, ...Operation[]] = [
  mcpOperation,
  ...Object.values<Operation>(createOperations(defaultPayloadLimits)),
];
/** Ends a line of HTTP. */
export const crlf = "\r\n";

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

const feedCursors: [string, ...string[]] = [
  "0-",
  "1-019aa8c4-7a3e-7b1f-8c2d-0123456789ab",
  "999999999999999-019aa8c4-7a3e-7b1f-8c2d-0123456789ab",
  "00-",
  "-1-",
  "1e3-019aa8c4-7a3e-7b1f-8c2d-0123456789ab",
];

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
    "message,message_read",
    ...feedCursors,
    "x".repeat(2_000),
  ];
  const pairs = Array.from(
    { length: random.integer(1, 3) },
    () => `${pick(random, names as [string])}${once(random, 9) ? "" : "="}${pick(random, values as [string])}`,
  );
  return `?${pairs.join(pick(random, ["&", "&&", ";"]))}`;
}

/** A request before it is text. */
export type Parts = { method: string; target: string; headers: string[]; body: Buffer };

/** A well-formed request for an operation of the contract with a valid key, but hostile ids, query and body. */
export function callOf(random: Random, place: Place): Parts {
  const operation = pick(random, operations);
  // Existing things are not deleted, so that later cases get as far.
  const deletes = operation.method === "delete";
  const org = deletes && operation.path.endsWith("{org}") ? {} : { org: place.org };
  const { uid, cid, webhook: wid, delivery: did, file: file_id } = place;
  const known: Record<string, string> = { ...org, ...(!deletes && { uid, cid, wid, did, file_id }) };
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(random, known[name]));
  const headers = [`Admin-Api-Key: ${place.key}`];
  if (once(random, 8)) headers.push(`Last-Event-ID: ${pick(random, feedCursors)}`);
  if (once(random, 8)) headers.push("Accept: application/cloudevents-batch+json");
  let body: Buffer = Buffer.alloc(0);
  if (operation.takesBytes === true) {
    body = anyBytes(random, once(random, 20) ? 200_000 : 300);
    headers.push(`Content-Type: ${pick(random, mediaTypes)}`);
  } else if (operation.bodyExample !== undefined || once(random, 8)) {
    const example = JSON.parse(JSON.stringify(operation.bodyExample ?? {}));
    if ("organizationId" in example) Object.assign(example, { organizationId: place.org, senderId: place.uid });
    if ("message" in example) {
      const id = operation.lines === undefined ? undefined : pick(random, hostileTexts);
      Object.assign(example.message, { cid: place.cid, id });
    }
    const value = () => encode(random, once(random, 6) ? JSON.stringify(example) : spoil(random, example));
    const count = operation.lines === undefined ? 1 : random.integer(1, 8);
    body = Buffer.concat(
      Array.from({ length: count }, () => [value(), Buffer.from("\n")])
        .flat()
        .slice(0, 2 * count - 1),
    );
    headers.push(
      once(random, 12)
        ? pick(random, [
            "Content-Type: text/plain",
            "Content-Type: application/json; charset=latin1",
            "Content-Type:",
            "Content-Encoding: gzip",
            "Content-Type: multipart/form-data; boundary=x",
          ])
        : `Content-Type: application/${operation.lines === undefined ? "json" : "x-ndjson"}`,
    );
  }
  if (operation.operationId === "downloadFile") headers.push(...downloadHeaders(random));
  if (operation.requestHeaders !== undefined && once(random, 2))
    headers.push(
      `Prefer: ${pick(random, ["wait=1", "wait=99", 'wait="1', "wait=0;wait=1", ",,=;", "wait=1, wait=2", "x"])}`,
    );
  return { method: operation.method.toUpperCase(), target: path + queryOf(random, operation), headers, body };
}

const mediaTypes: [string, ...string[]] = [
  "text/plain",
  "text/html; charset=utf-8",
  "",
  "x",
  "*/*",
  "image/png\tx",
  "application/octet-stream;;;=",
  `a/${"b".repeat(3_000)}`,
  "multipart/form-data; boundary=x",
];
const etags: [string, ...string[]] = [
  "*",
  '"x"',
  'W/"x"',
  '"',
  "x, y",
  '"a","b"',
  "Thu, 01 Jan 1970 00:00:00 GMT",
  `"${"a".repeat(2_000)}"`,
];

/** Headers that ask for a part of a file, or only for a newer one. */
function downloadHeaders(random: Random): string[] {
  const range = pick(random, [
    "bytes=0-0",
    "bytes=0-",
    "bytes=-1",
    "bytes=-0",
    "bytes=5-1",
    "bytes=0-0,2-3",
    "bytes=99999999999999999999-",
    "bytes=-99999999999999999999",
    "bytes= 0 - 1",
    "items=0-1",
    "bytes",
    "bytes=a-b",
    `bytes=${"0-0,".repeat(500)}1-1`,
  ]);
  const wishes = [`Range: ${range}`, `If-Range: ${pick(random, etags)}`, `If-None-Match: ${pick(random, etags)}`];
  return wishes.filter(() => once(random, 2));
}

/** The request line and the headers, still as text. */
export function head({ method, target, headers }: Parts, ...more: string[]): string {
  return [`${method} ${target} HTTP/1.1`, "Host: localhost", ...headers, ...more].join(crlf) + crlf + crlf;
}

/** A body in chunks (RFC 9112, section 7.1). */
export function chunked(random: Random, body: Buffer): Buffer[] {
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

/** Complete HTTP requests, each of which must get a documented response. */
export const whole: Record<string, (random: Random, place: Place) => Buffer[]> = {
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
      method: pick(random, ["PATCH", "OPTIONS", "PUT", "POST", "PROPFIND", "PURGE"]),
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
