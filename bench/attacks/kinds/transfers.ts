import { type Attack, stallMs, type Target, tenant, tenantPath } from "../attack.ts";
import { fill, keepOpen, type Line } from "../clients/connections.ts";
import { createAnswerScanner, requestOf } from "../clients/pipeline.ts";
import type { Tally } from "../clients/tally.ts";

// An organization may run four at once, so that the others are refused, and come again.
const atOnce = 8;
const returnMs = 500;
const linesPerPiece = 500;
const conversations = 1_000;
const firstMessageAt = Date.UTC(2024, 0, 1);

/** Makes the pieces of an endless file: whole lines, of which no other file has one. */
type File = (name: string) => () => string;

const textOf = (lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

const cidOf = (index: number) => `imported-${index % conversations}`;

const conversationLines = Array.from({ length: conversations }, (_, index) => ({
  conversation: { id: cidOf(index), participants: [tenant.sender] },
}));

/** Three users, a conversation, and six messages over all conversations, again and again. */
const mixed: File = (name) => {
  let made = 0;
  const lineOf = (index: number): object => {
    const id = `${name}-${index}`;
    if (index % 10 < 3) return { user: { id, name: `User ${id}` } };
    if (index % 10 === 3) return { conversation: { id, participants: [tenant.sender, `${name}-${index - 1}`] } };
    const at = new Date(firstMessageAt + index * 1_000).toISOString();
    const body = `This is message ${index} of a long history, about as long as messages are.`;
    return { message: { id, cid: cidOf(index), senderId: tenant.sender, body, x: { number: index }, created_at: at } };
  };
  return () => {
    const first = made;
    made += linesPerPiece;
    const lines = Array.from({ length: linesPerPiece }, (_, index) => lineOf(first + index));
    return textOf(first === 0 ? [...conversationLines, ...lines] : lines);
  };
};

/** Long lines, each of a conversation with many participants. */
const long: File = (name) => {
  const uids = Array.from({ length: 90_000 }, (_, index) => `u${index.toString(36)}`);
  const participants = JSON.stringify(uids);
  let made = 0;
  return () => `{"conversation":{"id":"${name}-${made++}","participants":${participants}}}\n`;
};

/** Long lines with an error at the end. */
const longRefused: File = () => {
  const members = Array.from({ length: 70_000 }, (_, index) => `"m${index.toString(36)}":{}`).join(",");
  return () => `{"message":{"id":"x","cid":"chat","senderId":"sender","body":"x","x":{${members}}}}\n`;
};

/** Short lines that are all refused, each for ten reasons. */
const refused: File = () => {
  const wrong = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`wrong${index}`, index]));
  const piece = textOf(Array.from({ length: linesPerPiece }, () => ({ message: wrong })));
  return () => piece;
};

const chunkOf = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

/** Imports files without an end, each as fast as the server reads it. */
function importAll({ url, key, run }: Target, tally: Tally, file: File): void {
  const lines = ["Content-Type: application/x-ndjson", "Transfer-Encoding: chunked"];
  const hello = requestOf(url, "POST", tenantPath("import"), { key, lines });
  let begun = 0;
  keepOpen({
    url,
    tally,
    count: atOnce,
    returnMs,
    talk() {
      const next = file(`${run}-${begun++}`);
      let isRefused = false;
      let imported = 0;
      const scan = createAnswerScanner((status) => {
        tally.count(`HTTP ${status}`);
        isRefused ||= status !== "200";
      });
      const nextChunk = () => {
        if (isRefused) return undefined;
        const text = next();
        tally.count("bytes written", text.length);
        return chunkOf(text);
      };
      return {
        hello,
        onDrain: (line) => fill(line, nextChunk),
        hear(chunk, line) {
          scan(chunk);
          tally.count("bytes read", chunk.length);
          const lines = Number(/^.*"lines":(\d+)/s.exec(chunk.toString("latin1"))?.[1] ?? imported);
          tally.count("lines imported or reported", Math.max(0, lines - imported));
          imported = Math.max(imported, lines);
          if (isRefused) line.leave();
        },
      };
    },
  });
}

/** Exports the organization, again and again. The unread read no more than that their export has begun. */
function exportAll({ url, key }: Target, tally: Tally, readsNothing: boolean): void {
  const hello = requestOf(url, "GET", tenantPath("export"), { key });
  keepOpen({
    url,
    tally,
    count: atOnce,
    returnMs,
    talk() {
      let line: Line | undefined;
      const scan = createAnswerScanner(
        (status) => {
          tally.count(`HTTP ${status}`);
          if (readsNothing && status === "200") line?.pause();
        },
        () => line?.leave(),
      );
      return {
        hello,
        hear(chunk, from) {
          line = from;
          tally.count("bytes read", chunk.length);
          scan(chunk);
        },
      };
    },
  });
}

/** Attacks with what streams: files of lines in, and files of lines out. */
export const transferAttacks: readonly Attack[] = [
  {
    name: "imports",
    row: 5,
    mustBeTold: true,
    who: "key with `directory:write` and `message:send`: imports users, conversations and messages without an end, on 8 connections",
    run: (target, tally) => importAll(target, tally, mixed),
  },
  {
    name: "long-imports",
    row: 5,
    mustBeTold: true,
    who: "key with `directory:write`: imports lines of 90,000 participants, on 8 connections",
    run: (target, tally) => importAll(target, tally, long),
  },
  {
    name: "long-refused-imports",
    mustBeTold: true,
    who: "key with `directory:write`: imports lines of 900 kB with an error at the end, on 8 connections",
    run: (target, tally) => importAll(target, tally, longRefused),
  },
  {
    name: "refused-imports",
    mustBeTold: true,
    who: "key with `directory:write`: imports lines with ten errors each, on 8 connections",
    run: (target, tally) => importAll(target, tally, refused),
  },
  {
    name: "exports",
    row: 2,
    mustBeTold: true,
    who: "key with `directory:read` and `history:read`: exports its organization again and again, on 8 connections",
    run: (target, tally) => exportAll(target, tally, false),
  },
  {
    name: "unread-exports",
    row: 3,
    mustBeTold: true,
    leastMs: stallMs,
    who: "key with `directory:read` and `history:read`: exports its organization on 8 connections that do not read",
    run: (target, tally) => exportAll(target, tally, true),
  },
];
