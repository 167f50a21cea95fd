import { handshake, headEnd, maskedFrame } from "../../harness/clients/handshake.ts";
import { tokenOf } from "../../harness/clients/idle-clients.ts";
import { tenant } from "../attack.ts";
import { elsewhere, keepOpen, type Line, type Talk } from "./connections.ts";
import type { Tally } from "./tally.ts";

const closeOpcode = 8;

type SocketTalk = {
  token?: string;
  /** Frames sent after the upgrade. */
  first?: readonly string[];
  /** Called with each text; its result is sent. */
  answer?(text: Buffer, line: Line): string | undefined;
  onUpgrade?(line: Line): void;
  /** Reads nothing after the upgrade. */
  readsNothing?: boolean;
};

/** A hand-written WebSocket of an attacker, which parses only what it must. */
export function socketTalk(url: string, tally: Tally, talk: SocketTalk): Talk {
  const { token, first = [], answer, onUpgrade, readsNothing = false } = talk;
  const { host } = new URL(url);
  let parts: Buffer[] = [];
  let size = 0;
  let needed = 0;
  let isUpgraded = false;

  function hear(chunk: Buffer, line: Line): void {
    parts.push(chunk);
    size += chunk.length;
    if (size < needed) return;
    let bytes = parts.length === 1 ? chunk : Buffer.concat(parts);
    if (!isUpgraded) {
      const end = bytes.indexOf(headEnd);
      if (end === -1) return;
      const status = bytes.toString("latin1", 9, 12);
      if (status !== "101") {
        tally.count(`HTTP ${status}`);
        line.leave();
        return;
      }
      isUpgraded = true;
      bytes = bytes.subarray(end + headEnd.length);
      for (const text of first) line.write(maskedFrame(text));
      if (readsNothing) line.pause();
      onUpgrade?.(line);
    }
    for (let frame = lengthOf(bytes); ; frame = lengthOf(bytes)) {
      needed = frame.whole;
      if (bytes.length < frame.whole) break;
      const payload = bytes.subarray(frame.head, frame.whole);
      bytes = bytes.subarray(frame.whole);
      take(frame.opcode, payload, line);
    }
    parts = bytes.length === 0 ? [] : [bytes];
    size = bytes.length;
  }

  function take(opcode: number, payload: Buffer, line: Line): void {
    if (opcode === closeOpcode) {
      tally.count(`closed ${payload.length < 2 ? 1005 : payload.readUInt16BE()}`);
      line.leave();
      return;
    }
    if (opcode !== 1) return;
    const refusal = /"error":\{"status":(\d+)/.exec(payload.toString("latin1", 0, 200));
    tally.count(refusal === null ? "frames" : `refused ${refusal[1]}`);
    const next = answer?.(payload, line);
    if (next !== undefined) line.write(maskedFrame(next));
  }

  const lines = token === undefined ? [] : [`Authorization: Bearer ${token}`];
  return { hello: handshake(host, "/ws", lines), hear };
}

/**
 * The header length, total length and opcode of a server's frame. If there are too few bytes to tell, the length
 * exceeds them.
 */
function lengthOf(bytes: Buffer): { head: number; whole: number; opcode: number } {
  const opcode = (bytes[0] ?? 0) & 0x0f;
  if (bytes.length < 2) return { head: 2, whole: 2, opcode };
  const short = (bytes[1] ?? 0) & 0x7f;
  const head = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < head) return { head, whole: head, opcode };
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  return { head, whole: head + length, opcode };
}

type Asking = { url: string; tally: Tally; sockets: number; window: number; uids: readonly string[]; request: object };

/** Repeats one request as fast as responses come, on sockets that are reopened as soon as they are closed. */
export async function askBySocket({ url, tally, sockets, window, uids, request }: Asking): Promise<void> {
  const tokens = await tokensOf(uids);
  const text = JSON.stringify({ request: { ...request, id: 1 } });
  keepOpen({
    url,
    tally,
    count: sockets,
    from: elsewhere,
    talk: (index) =>
      socketTalk(url, tally, {
        token: tokens[index % tokens.length] ?? "",
        first: Array.from({ length: window }, () => text),
        answer: () => text,
      }),
  });
}

/** Tokens of members of the attackers' organization, signed here so that the server does no work for them. */
export function tokensOf(uids: readonly string[]): Promise<string[]> {
  return Promise.all(uids.map((uid) => tokenOf(tenant.org, uid)));
}
