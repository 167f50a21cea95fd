import { frameRequests } from "../../src/contract/connections/frames.ts";
import { OPCODE, type RawSocket } from "../harness/clients/raw-socket.ts";
import type { Random } from "../harness/random.ts";
import type { Place } from "./http-call.ts";
import { encode, spoil } from "./json.ts";
import { anyBytes, once, pick } from "./pick.ts";

/**
 * What a client does on its socket. `isWhole` means that the server can read all of it, so that a final close frame is
 * answered.
 */
export type SocketCase = { kind: string; hasToken: boolean; isWhole: boolean; act(socket: RawSocket): void };

const frameBytes = 64 * 1024;

function requestText(random: Random, { token, cid }: Place): Buffer {
  const examples: Record<string, object> = {
    connect: { token, device_id: "phone", since: "01a1f910-5800-7b1a-8c3d-4e5f60718293" },
    message_list: { cid, limit: 2, before: "01a1f910-5800-7b1a-8c3d-4e5f60718293" },
    conversation_list: { limit: 2, cursor: "eyJpZCI6ImEifQ" },
    message_read: { cid, ids: ["01a1f910-5800-7b1a-8c3d-4e5f60718293"] },
    system_message_list: { limit: 2, cursor: "eyJpZCI6ImEifQ" },
    system_message_read: { ids: ["s1"], seen: true },
    get_users_by_ids: { ids: ["alice"] },
    get_participants_by_cids: { cids: [cid] },
    get_file_urls: { file_ids: ["01a1f910-5800-7b1a-8c3d-4e5f60718293"] },
    message_reactions_list: { mid: "01a1f910-5800-7b1a-8c3d-4e5f60718293" },
    user_last_activity: { ids: ["alice"] },
    user_last_activity_subscribe: { id: "alice" },
    activity_status: { isInactive: true },
    typing: { cid, status: "start" },
  };
  const operation = pick(random, Object.keys(frameRequests) as [string]);
  const sent = pick(random, [{ message: { id: "1", cid, body: "x" } }, { typing: { cid } }]); // as SAMA clients send
  const request = once(random, 8) ? sent : { request: { [operation]: examples[operation] ?? {}, id: "1" } };
  return encode(random, once(random, 5) ? JSON.stringify(request) : spoil(random, request));
}

type Act = (socket: RawSocket) => void;
type Make = (random: Random, place: Place) => Act;

const text = (random: Random, place: Place): Act => {
  const payload = requestText(random, place);
  return (socket) => socket.sendFrame({ opcode: OPCODE.text, payload });
};

function closeFrame(random: Random): Buffer {
  const code = Buffer.alloc(2);
  code.writeUInt16BE(
    pick(random, [0, 1, 999, 1000, 1001, 1004, 1005, 1006, 1015, 1016, 2999, 3000, 4401, 4999, 5000, 65_535]),
  );
  const reason = pick(random, [
    Buffer.alloc(0),
    Buffer.from("bye"),
    Buffer.from([0xc3, 0x28]),
    Buffer.alloc(124, 0x61),
  ]);
  return pick(random, [Buffer.concat([code, reason]), code.subarray(0, 1), Buffer.alloc(0)]);
}

/** Cases that a server reads to their end. */
const readable: Record<string, Make> = {
  "hostile requests": (random, place) => {
    const acts = Array.from({ length: random.integer(1, 5) }, () => text(random, place));
    return (socket) => {
      for (const act of acts) act(socket);
    };
  },
  "a request in fragments": (random, place) => {
    const payload = requestText(random, place);
    const cuts = Array.from({ length: random.integer(1, 6) }, () => random.integer(0, payload.length)).sort(
      (left, right) => left - right,
    );
    const hasPings = once(random, 2);
    return (socket) => {
      for (const [index, at] of [...cuts, payload.length].entries()) {
        const part = payload.subarray(cuts[index - 1] ?? 0, at);
        socket.sendFrame({
          opcode: index === 0 ? OPCODE.text : OPCODE.continuation,
          payload: part,
          fin: index === cuts.length,
        });
        if (hasPings && index < cuts.length) socket.sendFrame({ opcode: OPCODE.ping, payload: "between" });
      }
    };
  },
  "bytes in place of text": (random) => {
    const payload = anyBytes(random, 300);
    const opcode = pick(random, [OPCODE.binary, OPCODE.text]);
    return (socket) => socket.sendFrame({ opcode, payload });
  },
  "many pings": (random) => {
    const payload = anyBytes(random, 125);
    return (socket) => {
      for (let count = 0; count < 200; count++)
        socket.sendFrame({ opcode: count % 2 === 0 ? OPCODE.ping : OPCODE.pong, payload });
    };
  },
  "an odd close": (random) => {
    const payload = closeFrame(random);
    return (socket) => socket.sendFrame({ opcode: OPCODE.close, payload });
  },
  "a frame at the limit": (random) => {
    const payload = Buffer.alloc(frameBytes + random.integer(-1, 1), pick(random, ["a", "[", '{"']));
    return (socket) => socket.sendFrame({ opcode: OPCODE.text, payload });
  },
  "many fragments without an end": (random) => {
    const payload = Buffer.alloc(random.integer(1, 2_000), 0x61);
    return (socket) => {
      for (let count = 0; count < 100; count++)
        socket.sendFrame({ opcode: count === 0 ? OPCODE.text : OPCODE.continuation, payload, fin: false });
    };
  },
};

/** Cases that break RFC 6455: the server ends the connection, with or without a close frame. */
const broken: Record<string, Make> = {
  "an unmasked frame": (random) => {
    const payload = pick(random, ["{}", "", "x".repeat(200)]);
    return (socket) => socket.sendFrame({ opcode: OPCODE.text, payload, masked: false });
  },
  "reserved bits, as of compression": (random, place) => {
    const payload = requestText(random, place);
    const rsv = random.integer(1, 7);
    return (socket) => socket.sendFrame({ opcode: OPCODE.text, payload, rsv });
  },
  "a reserved opcode": (random) => {
    const opcode = pick(random, [3, 4, 5, 6, 7, 11, 12, 13, 14, 15]);
    const payload = anyBytes(random, 200);
    return (socket) => socket.sendFrame({ opcode, payload, fin: !once(random, 2) });
  },
  "a control frame in fragments, or too large": (random) => {
    const opcode = pick(random, [OPCODE.ping, OPCODE.pong, OPCODE.close]);
    const payload = pick(random, ["", "x".repeat(126), "x".repeat(70_000)]);
    return (socket) => socket.sendFrame({ opcode, payload, fin: payload !== "" });
  },
  "a continuation of nothing, a beginning within a message": (random) => {
    const first = once(random, 2);
    return (socket) => {
      if (!first) socket.sendFrame({ opcode: OPCODE.text, payload: "{", fin: false });
      socket.sendFrame({ opcode: first ? OPCODE.continuation : OPCODE.text, payload: "}" });
    };
  },
  "a length that lies": (random) => {
    const lengths = [
      "fe8000000000000000",
      "ffffffffffffffffff",
      "ff0000000100000000",
      "feffff",
      "ff0000000000000005",
      "fe0005",
    ];
    const bytes = Buffer.concat([
      Buffer.from([0x81]),
      Buffer.from(pick(random, lengths as [string]), "hex"),
      anyBytes(random, 64),
    ]);
    return (socket) => socket.sendBytes(bytes);
  },
  "any bytes": (random) => {
    const bytes = anyBytes(random, 500);
    return (socket) => socket.sendBytes(bytes);
  },
  "half a frame": (random) => {
    const bytes = Buffer.from([0x81, 0x80 | random.integer(1, 126), ...anyBytes(random, 3)]);
    return (socket) => socket.sendBytes(bytes);
  },
};

/** Makes a case of any kind, the same for the same `random`. */
export function makeSocketCase(random: Random, place: Place): SocketCase {
  const isWhole = !once(random, 2);
  const [kind, make] = pick(random, Object.entries(isWhole ? readable : broken) as [[string, Make]]);
  const hasToken = !once(random, 4);
  const acts = [...(once(random, 2) ? [text(random, place)] : []), make(random, place)];
  return {
    kind: `${kind}${hasToken ? "" : ", before `connect`"}`,
    hasToken,
    isWhole,
    act(socket) {
      for (const act of acts) act(socket);
    },
  };
}
