import { describe, expect, test } from "bun:test";
import { OPCODE, openRawSocket, type RawSocket } from "../../harness/clients/raw-socket.ts";
import { within } from "../../harness/deadline.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald();

/** Waits for the close of a raw socket; returns its code and reason. */
async function closeOf(socket: RawSocket): Promise<string> {
  const { payload } = await socket.frames.next(({ opcode }) => opcode === OPCODE.close, "a close frame");
  const { closeCode } = await within(socket.ended, "the end of the socket");
  return `${closeCode} ${payload.subarray(2).toString("utf8")}`;
}

async function rawSocket(isConnected: boolean): Promise<RawSocket> {
  const org = await createOrganization(herald());
  return await openRawSocket(herald().url, isConnected ? { token: await org.token("alice") } : {});
}

const kinds = ["ping", "pong"] as const;

describe("frames", () => {
  test.each(kinds.flatMap((kind) => [true, false].map((isConnected) => [kind, isConnected] as const)))(
    "of the protocol itself are limited per minute: %s, of a socket with a session: %p",
    async (kind, isConnected) => {
      using socket = await rawSocket(isConnected);
      for (let count = 0; count < 300; count++) socket.sendFrame({ opcode: OPCODE[kind] });
      socket.sendText({ request: { ping: {}, id: 1 } });
      await socket.frames.next(({ opcode }) => opcode === OPCODE.text, "an answer");
      socket.sendFrame({ opcode: OPCODE[kind] });
      expect(await closeOf(socket)).toMatch(
        /^4429 too many connections or requests \(pings-per-connection\); retry in \d+ s$/,
      );
    },
  );

  test("waiting for their answers are limited in bytes", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    // An answer that waits for the database, so that those behind it wait, too.
    const large = JSON.stringify({ request: { ack: { ids: ["a"] }, id: 1 } }).padEnd(60_000);
    for (let count = 0; count < 4; count++) alice.send(large);
    for (let count = 0; count < 4; count++) expect((await alice.responses.next()).success).toBe(true);
    for (let count = 0; count < 40; count++) alice.send(large);
    expect(await within(alice.closed, "the close")).toMatchObject({
      code: 4429,
      reason: expect.stringMatching(/\(bytes-waiting\)/),
    });
  });
});
