import { randomUUID } from "node:crypto";
import { type Attack, stallMs, type Target, tenant } from "../attack.ts";
import { fill, keepOpen } from "../clients/connections.ts";
import { requestOf, statusOf } from "../clients/pipeline.ts";
import type { Tally } from "../clients/tally.ts";

const connections = 16; // four times as many as may run at once
const linesAtOnce = 100;
const returnMs = 200;

const messageOf = (body: string) => ({
  organizationId: tenant.org,
  senderId: tenant.sender,
  message: { id: randomUUID(), cid: tenant.chat, body },
});
const longBody = "x".repeat(60_000);
const systemMessageOf = () => ({
  organizationId: tenant.org,
  senderId: tenant.sender,
  messageSystem: { id: randomUUID(), uids: tenant.massMembers },
});

/** What a batch may consist of: short sends, sends of the largest kinds, and lines that are refused. */
const kinds: readonly (() => string)[] = [
  ...Array.from({ length: 6 }, () => () => JSON.stringify(messageOf("one of many"))),
  () => JSON.stringify(messageOf(longBody)),
  () => "no JSON",
];

/** A chunk of a body (RFC 9112, section 7.1) with some lines. */
function chunkOf(turn: number): string {
  const lines = Array.from({ length: linesAtOnce }, (_, index) => kinds[(turn + index) % kinds.length]?.() ?? "");
  if (turn % 10 === 0) lines.push(JSON.stringify(systemMessageOf()));
  const text = lines.map((line) => `${line}\n`).join("");
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/**
 * Sends batches without an end, with eleven keys, as fast as the server takes them. The unread read no more than that
 * their batch has begun.
 */
function sendEndlessly({ url, key, moreKeys }: Target, tally: Tally, readsNothing: boolean): void {
  const keys = [key, ...moreKeys];
  const chunks = Array.from({ length: 20 }, (_, turn) => chunkOf(turn)); // the ids repeat: later lines are replayed
  let turn = 0;
  keepOpen({
    url,
    tally,
    count: connections,
    returnMs,
    talk(index) {
      let isRefused = false;
      const next = () => {
        if (isRefused) return undefined;
        return turn++ % 3 === 0 ? chunkOf(turn) : (chunks[turn % chunks.length] ?? "");
      };
      const lines = ["Content-Type: application/x-ndjson", "Transfer-Encoding: chunked"];
      return {
        hello: requestOf(url, "POST", "/admin/message/batch", { key: keys[index % keys.length] ?? "", lines }),
        hear(bytes, line) {
          const status = statusOf(bytes);
          if (status !== undefined) tally.count(`HTTP ${status}`);
          isRefused ||= status === "429";
          if (isRefused) line.leave();
          else if (readsNothing) line.pause();
          else tally.count("bytes of answers", bytes.length);
        },
        onDrain: (line) => fill(line, next),
      };
    },
  });
}

/** Attacks with batches of sends. */
export const batchAttacks: readonly Attack[] = [
  {
    name: "batches",
    who: "eleven keys with `message:send`: endless batches of short and long sends and bad lines on 16 connections",
    run: (target, tally) => sendEndlessly(target, tally, false),
  },
  {
    name: "unread-batches",
    leastMs: stallMs,
    who: "the same, and nobody reads the answers",
    run: (target, tally) => sendEndlessly(target, tally, true),
  },
];
