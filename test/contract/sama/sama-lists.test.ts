import { describe, expect, test } from "bun:test";
import { openSamaClient } from "../../harness/clients/sama-client.ts";
import type { ShownMessage } from "../../harness/clients/wire.ts";
import { asShown } from "../../harness/reading/expectations.ts";
import { filesOf } from "../../harness/servers/files.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald({ env: { HERALD_LIMIT_REQUESTS_PER_CONNECTION: "0", HERALD_LIMIT_USER_REQUESTS: "0" } });

/** Waits for the next millisecond, as times have no finer parts. */
async function tick(): Promise<void> {
  const now = Date.now();
  while (Date.now() <= now + 1) await Bun.sleep(1);
}

describe("conversation_list of a SAMA client", () => {
  test("has the last message as it is now: edited, and without those that were taken back", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using alice = await openSamaClient(org, "alice");
    const last = async () => (await alice.request("conversation_list", {}, "conversations"))[0]?.last_message;
    expect(await last()).toBeNull();
    const first = await org.sent("bob", { cid, body: "1", x: { n: 1 } });
    expect(await last()).toEqual(asShown((await org.history(cid))[0]));
    const second = await org.sent("bob", { cid, body: "2" });
    await org.edited("bob", { id: second.server_mid, body: "2, edited" });
    expect(await last()).toMatchObject({ _id: second.server_mid, body: "2, edited", edited_at: expect.any(String) });
    await org.recalled("alice", cid, second.server_mid);
    expect(await last()).toMatchObject({ _id: first.server_mid, body: "1", x: { n: 1 } });
  });

  test("ends a page early after 256 KiB of last messages, and the next one goes on", async () => {
    const org = await createOrganization(herald());
    const cids: string[] = [];
    for (let made = 0; made < 6; made++) {
      const cid = await org.conversation(["alice"]);
      cids.unshift(cid);
      await org.sent("alice", { cid, body: "x".repeat(60_000) });
      await tick();
    }
    using alice = await openSamaClient(org, "alice");
    const first = await alice.socket.request("conversation_list", { limit: 100 });
    expect(first.conversations?.map(({ _id }) => _id)).toEqual(cids.slice(0, 4));
    const second = await alice.socket.request("conversation_list", { cursor: first.cursor });
    expect(second.conversations?.map(({ _id }) => _id)).toEqual(cids.slice(4));
    expect(second.cursor).toBeNull();
  });

  test("takes updated_at, in milliseconds or ISO 8601, and leaves out both ends", async () => {
    const org = await createOrganization(herald());
    const cids = [
      await org.conversation(["alice"]),
      await org.conversation(["alice"]),
      await org.conversation(["alice"]),
    ];
    for (const cid of cids) {
      await tick();
      await org.sent("alice", { cid, body: "x" });
    }
    using alice = await openSamaClient(org, "alice");
    const list = async (updated_at?: object) =>
      await alice.request("conversation_list", { limit: 10, updated_at }, "conversations");
    const [newest, middle, oldest] = (await list()).map(({ updated_at }) => updated_at) as [string, string, string];
    const ids = async (between: object) => (await list(between)).map(({ _id }) => _id);
    expect(await ids({ gt: oldest })).toEqual([cids[2], cids[1]] as string[]);
    expect(await ids({ lt: Date.parse(newest) })).toEqual([cids[1], cids[0]] as string[]);
    expect(await ids({ gt: Date.parse(oldest), lt: newest })).toEqual([cids[1]] as string[]);
    expect(await ids({ gt: middle, lt: newest })).toEqual([]);
    for (const updated_at of [{ gt: "soon" }, { gt: null }, { gte: 1 }, "2026"])
      expect(alice.request("conversation_list", { updated_at }, "conversations")).rejects.toMatchObject({
        status: 422,
      });
  });
});

describe("message_list of a SAMA client", () => {
  test("gives the messages of ids, newest first, and leaves out those of other conversations and those taken back", async () => {
    const org = await createOrganization(herald());
    const [cid, other] = [await org.conversation(["alice", "bob"]), await org.conversation(["bob"])];
    const ids: string[] = [];
    for (const body of ["1", "2", "3"]) ids.push((await org.sent("bob", { cid, body })).server_mid);
    const { server_mid } = await org.sent("bob", { cid: other, body: "not yours" });
    await org.recalled("bob", cid, ids[1] ?? "");
    using alice = await openSamaClient(org, "alice");
    const list = (data: object) => alice.request("message_list", data, "messages");
    const found = await list({ cid, ids: [ids[0], server_mid, ids[2], ids[1], "none", ids[0]] });
    expect(found).toEqual((await org.history(cid)).map(asShown));
    expect(found.map(({ body }) => body)).toEqual(["3", "1"]);
    expect(await list({ cid, ids: [server_mid] })).toEqual([]);
    expect(list({ cid: other, ids: [server_mid] })).rejects.toMatchObject({ status: 403, code: "not_a_participant" });
    expect(list({ cid, ids, before: ids[0] })).rejects.toMatchObject({ status: 400 });
    expect(list({ cid, ids: [] })).rejects.toMatchObject({ status: 422 });
  });

  test("says when each message was updated, and the type and size of each file that there is", async () => {
    const org = await createOrganization(herald());
    const files = filesOf(org);
    const cid = await org.conversation(["alice", "bob"]);
    const picture = await files.uploaded("a.png", "PNG", { type: "image/png" });
    const gone = await files.uploaded("b", "b");
    const x = { n: 1.5, __proto__: null, ü: [1e21, -3, "😀"] };
    const announced = { name: "c.pdf", size: 7, content_type: "application/pdf" };
    const attachments = [{ name: "a.png", file_id: picture.file_id }, { name: "b", file_id: gone.file_id }, announced];
    const { server_mid } = await org.sent("bob", { cid, body: "three", attachments, x });
    expect((await files.remove(gone.file_id)).status).toBe(204);
    using alice = await openSamaClient(org, "alice");
    const [sent] = await org.history(cid);
    const [first, second, third] = sent?.attachments ?? [];
    const expected = {
      ...asShown(sent),
      attachments: [
        { ...first, file_content_type: "image/png", file_size: 3 },
        second,
        { ...third, file_content_type: "application/pdf", file_size: 7 },
      ] as ShownMessage["attachments"],
    };
    const shown = async () => [
      (await alice.request("message_list", { cid }, "messages"))[0],
      (await alice.request("message_list", { cid, ids: [server_mid] }, "messages"))[0],
      (await alice.request("conversation_list", {}, "conversations"))[0]?.last_message ?? undefined,
    ];
    expect(await shown()).toEqual([expected, expected, expected]);
    await org.edited("bob", { id: server_mid, body: "edited" });
    const [after] = await org.history(cid);
    const edited = { ...expected, body: "edited", edited_at: after?.edited_at, updated_at: after?.edited_at };
    expect<unknown>(await shown()).toEqual([edited, edited, edited]);
  });

  test("pages by the time of the oldest message, newest first, also through what was imported", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const lines = [1, 2, 3].map((day) => ({
      message: { id: `i${day}`, cid, senderId: "alice", body: `day ${day}`, created_at: `2024-01-0${day}T00:00:00Z` },
    }));
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const imported = await fetch(`${herald().url}${org.path("import")}`, {
      method: "POST",
      headers: { "Admin-Api-Key": herald().key, "Content-Type": "application/x-ndjson" },
      body: text,
    });
    expect(await imported.text()).toContain('"failed":0');
    for (const body of ["4", "5", "6", "7"]) {
      await org.sent("alice", { cid, body });
      await tick();
    }
    using alice = await openSamaClient(org, "alice");
    const bodies: string[] = [];
    let lt: string | undefined;
    for (;;) {
      const page = await alice.request(
        "message_list",
        { cid, limit: 2, ...(lt && { updated_at: { lt } }) },
        "messages",
      );
      if (page.length === 0) break;
      bodies.push(...page.map(({ body }) => body));
      lt = page.at(-1)?.created_at;
    }
    expect(bodies).toEqual(["7", "6", "5", "4", "day 3", "day 2", "day 1"]);
    const all = await org.history(cid);
    const since = await alice.request("message_list", { cid, updated_at: { gt: all[2]?.created_at } }, "messages");
    expect(since).toEqual(all.slice(0, 2).map(asShown));
    const some = { gt: Date.parse("2024-01-01T00:00:00Z"), lt: "2024-01-03T00:00:00Z" };
    expect(
      (await alice.request("message_list", { cid, updated_at: some }, "messages")).map(({ body }) => body),
    ).toEqual(["day 2"]);
  });
});
