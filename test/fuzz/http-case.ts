import type { Random } from "../harness/random.ts";
import { withOddFraming, withOddHeaders, withTwoLengths } from "./header-case.ts";
import { crlf, head, type Place, whole } from "./http-call.ts";
import { anyBytes, damage, once, pick } from "./pick.ts";
import { withPieces } from "./pieces-case.ts";

/**
 * The bytes of one request. `isHttp` means that they are complete HTTP/1.1, so that a response must come. `isSlow`
 * means that they are sent in pieces with pauses, even within the headers.
 */
export type HttpCase = { kind: string; chunks: Buffer[]; isHttp: boolean; isSlow: boolean };

/**
 * Bytes that are not HTTP/1.1, are ambiguous, or incomplete: they are refused, or the connection ends. Never served
 * twice, never left hanging.
 */
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
  "odd framing": withOddFraming,
  "two lengths that agree": withTwoLengths,
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

/** Makes a case of any kind, the same for the same `random`. */
export function makeHttpCase(random: Random, place: Place): HttpCase {
  const isHttp = !once(random, 3);
  const kinds = Object.entries(
    isHttp ? { ...whole, "odd headers": withOddHeaders, "pieces of a message": withPieces } : broken,
  ) as [[string, (random: Random, place: Place) => Buffer[]]];
  const [kind, make] = pick(random, kinds);
  return { kind, isHttp, chunks: make(random, place), isSlow: once(random, 20) };
}
