import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { handshake, headEnd, readServerFrame } from "../../bench/harness/clients/handshake.ts";
import { within } from "../harness/deadline.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const herald = useHerald({ oneNode: "a flood is counted by the node that it comes to" });

const closeOpcode = 8;
const waveFrames = 10_000;
const mostBytes = 64 * 2 ** 20; // eleven million frames
const floodMayTakeMs = 30_000;

/**
 * Writes control frames until the server ends the connection, or there were more than it should accept. Resolves once it
 * has ended, with the close code, if there was one: a busy machine may report the end later than it takes the frames.
 */
async function flood(opcode: number, lines: readonly string[]): Promise<number | undefined> {
  const { hostname, port, host } = new URL(herald().url);
  const frame = Buffer.from([0x80 | opcode, 0x80, 0, 0, 0, 0]);
  const wave = Buffer.concat(Array.from({ length: waveFrames }, () => frame));
  const over = Promise.withResolvers<void>();
  const socket = connect(Number(port), hostname);
  let received: Buffer = Buffer.alloc(0);
  let written = 0;
  let code: number | undefined;
  let isUpgraded = false;

  /**
   * Writes the next wave in a turn of its own: a write to a socket that has ended seems to succeed until its end is
   * reported.
   */
  function write(): void {
    if (written > mostBytes || socket.destroyed) return;
    written += wave.length;
    socket.write(wave, () => setImmediate(write));
  }

  socket.on("connect", () => socket.write(handshake(host, "/ws", lines)));
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    if (!isUpgraded) {
      const end = received.indexOf(headEnd);
      if (end === -1) return;
      isUpgraded = true;
      received = received.subarray(end + headEnd.length);
      write();
    }
    for (let found = readServerFrame(received); found !== undefined; found = readServerFrame(received)) {
      received = received.subarray(found.size);
      if (found.opcode === closeOpcode) code = found.payload.readUInt16BE();
    }
  });
  socket.on("error", () => undefined);
  socket.on("close", () => over.resolve());
  try {
    await within(over.promise, "the end of a flood", floodMayTakeMs);
    return code;
  } finally {
    socket.destroy();
  }
}

describe("endless control frames (row 9)", () => {
  test.each([
    ["pings", 9],
    ["pongs", 10],
  ])("%s of a stranger end the connection, and not because of the connect deadline", async (_name, opcode) => {
    expect([4429, undefined]).toContain(await flood(opcode, []));
  });

  test.each([
    ["pings", 9],
    ["pongs", 10],
  ])("%s of a user end the connection", async (_name, opcode) => {
    const org = await createOrganization(herald());
    const lines = [`Authorization: Bearer ${await org.token("alice")}`];
    expect([4429, undefined]).toContain(await flood(opcode, lines));
  });
});
