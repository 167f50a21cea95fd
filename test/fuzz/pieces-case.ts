import type { Random } from "../harness/random.ts";
import { chunked, head, type Place } from "./http-call.ts";
import { encode, hostileTexts, spoil } from "./json.ts";
import { once, pick } from "./pick.ts";

const offsets: [unknown, ...unknown[]] = [0, 0, 0, 0, 1, 2, -1, 0.5, 2 ** 53, "0", null];

/** Pieces of a message that is open, one in a request or line by line, some of them hostile. */
export function withPieces(random: Random, place: Place): Buffer[] {
  const isStream = !once(random, 4);
  const messageAppend = {
    id: pick(random, place.open),
    offset: pick(random, offsets),
    text: pick(random, hostileTexts),
    ...(once(random, 12) && { done: pick(random, [true, false, 1]) }),
  };
  const first = { organizationId: place.org, senderId: place.uid, messageAppend };
  const lines = [lineOf(random, first)];
  if (isStream) for (let left = random.integer(0, 12); left > 0; left--) lines.push(nextLine(random));
  const body = Buffer.concat(lines.flatMap((line) => [line, Buffer.from(pick(random, ["\n", "\n", "\r\n", "\n\n"]))]));
  const headers = [`Admin-Api-Key: ${place.key}`, `Content-Type: application/${isStream ? "x-ndjson" : "json"}`];
  const parts = { method: "PUT", target: "/admin/message/append", headers, body };
  return once(random, 2)
    ? [Buffer.from(head(parts, "Transfer-Encoding: chunked")), ...chunked(random, body)]
    : [Buffer.from(head(parts, `Content-Length: ${body.length}`)), body];
}

function lineOf(random: Random, value: object): Buffer {
  return once(random, 3) ? encode(random, spoil(random, value)) : Buffer.from(JSON.stringify(value));
}

function nextLine(random: Random): Buffer {
  const text = pick(random, hostileTexts);
  const line = pick<object>(random, [{ text }, { text }, { text: "a" }, { text, done: true }, { done: true }, {}]);
  return once(random, 8) ? lineOf(random, line) : Buffer.from(JSON.stringify(line));
}
