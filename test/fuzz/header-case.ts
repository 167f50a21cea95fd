import type { Random } from "../harness/random.ts";
import { callOf, crlf, head, type Parts, type Place } from "./http-call.ts";
import { once, pick } from "./pick.ts";

/** Paths outside the contract's operations. */
const otherPaths: [string, ...string[]] = ["/", "/docs", "/docs/errors", "/console", "/sse", "/ws", "/nowhere"];

/** Headers that Herald, the runtime or a proxy may act on, and that do not say where a request ends or goes to. */
const names: [string, ...string[]] = [
  ...(["Admin-Api-Key", "Authorization", "Content-Type", "Accept", "Accept-Encoding", "X-Request-Id"] as const),
  ...["X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded", "X-Real-IP", "Via"],
  ...["Prefer", "Range", "If-Range", "If-None-Match", "If-Match", "If-Modified-Since", "Last-Event-ID"],
  ...["Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers", "Referer", "Cookie"],
  ...[
    "traceparent",
    "tracestate",
    "Idempotency-Key",
    "Retry-After",
    "RateLimit",
    "User-Agent",
    "X-HTTP-Method-Override",
  ],
  ...["Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Protocol", "Sec-WebSocket-Extensions", "TE"],
];

const values: [string, ...string[]] = [
  ...(["", " ", ",", ";", "=", '"', "*", "x", "NaN", "Infinity", "-1", "1e309", "0x10", "null", "undefined"] as const),
  ...["5, 5", "wait=NaN", "wait=1e309", "wait=1, wait=1", "bytes=NaN-", "bytes=0-NaN", "bytes=1-0,0-1", "a\tb"],
  ...[
    "\u00ff\u00fe",
    "\u00c3(",
    "\u0080",
    "Bearer ",
    "Bearer \u00ff",
    "for=;by=\u00ff",
    "127.0.0.1, ::1, x",
    "__proto__",
  ],
  ...["a".repeat(4_000), ",".repeat(4_000), "a,".repeat(2_000), "\u00ff".repeat(2_000)],
];

/** Headers that say where a request ends or goes to, or what happens to its connection, with what may be wrong with them. */
const framing: [string, ...string[]] = [
  ...(["Host: a:99999", "Host: xn--", "Host: a%2f", "Host: ", "Host: a b", "Host: \u00ff", "Host: a, a"] as const),
  ...[
    "Host: localhost",
    "host: localhost",
    "Content-Length: 2",
    "content-length: 02",
    "Content-Length: ",
    "Content-Length: NaN",
  ],
  ...[
    "Content-Length: 2, 2",
    "Content-Length: 629145600",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: ",
    "TRANSFER-ENCODING: x",
  ],
  ...[
    "Expect: 100-Continue",
    "Expect: x",
    "Expect: ",
    "Connection: close, close",
    "Connection: upgrade",
    "Upgrade: websocket",
  ],
  ...[
    "Upgrade: h2c",
    "Content-Encoding: gzip",
    "Content-Encoding: x\u00ff",
    "Content-Encoding: ",
    "Keep-Alive: NaN",
    "Trailer: Host",
  ],
];

function oddCase(random: Random, text: string): string {
  return [...text].map((letter) => (once(random, 2) ? letter.toUpperCase() : letter.toLowerCase())).join("");
}

/** A call of any route. */
function anyCall(random: Random, place: Place): Parts {
  const call = callOf(random, place);
  return once(random, 5) ? { ...call, method: pick(random, ["GET", "HEAD"]), target: pick(random, otherPaths) } : call;
}

/** One to three headers more: of those that the call has, again; or others with values that mean nothing. */
function moreHeaders(random: Random, headers: readonly string[]): string[] {
  return Array.from({ length: random.integer(1, 3) }, () => {
    const again = headers[random.integer(0, headers.length - 1)];
    if (again !== undefined && once(random, 3)) {
      const [name = "", value = ""] = [again.slice(0, again.indexOf(":")), again.slice(again.indexOf(":") + 1)];
      return `${oddCase(random, name)}:${once(random, 2) ? value : pick(random, values)}`;
    }
    return `${oddCase(random, pick(random, names))}: ${pick(random, values)}`;
  });
}

/** A call with headers that are doubled, empty, long, in odd case, or no text: it must get a documented response. */
export function withOddHeaders(random: Random, place: Place): Buffer[] {
  const parts = anyCall(random, place);
  const more = moreHeaders(random, parts.headers);
  const bytes = head({ ...parts, headers: [...parts.headers, ...more] }, `Content-Length: ${parts.body.length}`);
  return [Buffer.from(bytes, "latin1"), parts.body];
}

/** A call whose end, host or connection is told twice or wrongly: it is refused, or means the same to everybody. */
export function withOddFraming(random: Random, place: Place): Buffer[] {
  const parts = anyCall(random, place);
  const own = [`Content-Length: ${parts.body.length}`];
  const more = Array.from(
    { length: random.integer(1, 3) },
    () => (once(random, 4) ? own[0] : pick(random, framing)) ?? "",
  );
  const lines = [...parts.headers, ...moreHeaders(random, parts.headers), ...own, ...more];
  const host = once(random, 3) ? [] : ["Host: localhost"];
  const bytes = [`${parts.method} ${parts.target} HTTP/1.1`, ...host, ...lines, "", ""].join(crlf);
  return [Buffer.from(bytes, "latin1"), parts.body];
}

/** A body whose length is told twice, so that it is no number. A longer one would make the server wait for fewer bodies of others. */
export function withTwoLengths(random: Random, place: Place): Buffer[] {
  const bytes = 200_000;
  const lengths = Array.from({ length: 2 }, () => `Content-Length: ${bytes}`);
  return [Buffer.from(head(anyCall(random, place), ...lengths), "latin1"), Buffer.alloc(bytes, "x")];
}
