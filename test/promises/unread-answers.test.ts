import { describe, expect, test } from "bun:test";
import { openRawSocket } from "../harness/clients/raw-socket.ts";
import { eventually } from "../harness/deadline.ts";
import { heldBy } from "../harness/reading/held.ts";
import { startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const mebibyte = 1024 * 1024;
const pageBytes = mebibyte / 2;
const comfortableBytes = mebibyte / 4;
const body = "x".repeat(60_000);
const messages = 10; // more than a page holds
const asked = 40; // 20 MiB: more than the kernel and the node buffer for one connection

const lifted = { HERALD_LIMIT_USER_REQUESTS: "0" };

describe("unread answers", () => {
  test("are not made over a socket until it has taken those before, so a late reader gets them all", async () => {
    await using herald = await startHerald({ env: lifted });
    const org = await createOrganization(herald);
    const cid = await org.conversation(["alice", "bob"]);
    for (let count = 0; count < messages; count++) await org.sent("alice", { cid, body });
    const raw = await openRawSocket(herald.url);
    raw.sendText({ request: { connect: { token: await org.token("alice") }, id: "c" } });
    await raw.frames.next();
    raw.pause();
    for (let id = 0; id < asked; id++) raw.sendText({ request: { message_list: { cid, limit: 100 }, id } });
    const waiting = async () => (await heldBy(herald)).waiting_bytes ?? 0;
    await eventually(async () => (await waiting()) > comfortableBytes || undefined, "answers to wait for alice");
    // Meanwhile all of alice's would be made: pages of an organization are read in the order in which they were
    // requested.
    using bob = await org.socket("bob");
    for (let count = 0; count < asked; count++) await bob.request("message_list", { cid, limit: 100 });
    expect(await waiting()).toBeLessThan(comfortableBytes + pageBytes + 2 * body.length);
    raw.resume();
    for (let id = 0; id < asked; id++) {
      const { response } = JSON.parse((await raw.frames.next()).payload.toString());
      expect([response.id, response.messages.length]).toEqual([id, 9]);
    }
    raw[Symbol.dispose]();
  });
});
