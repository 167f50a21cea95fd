import { describe, expect, test } from "bun:test";
import { useHerald } from "../../harness/servers/herald.ts";
import { createKey } from "../../harness/servers/keys.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { exportOf, importInto, messageLine } from "./lines.ts";

const herald = useHerald();

async function filled() {
  const org = await createOrganization(herald());
  const uids = Array.from({ length: 2_345 }, (_, index) => `u${index}`);
  await importInto(org, [
    { user: { id: "alice", name: "Alice 🙂" } },
    { user: { id: "eve", blocked: true } },
    { conversation: { id: "room", name: "Room", participants: ["alice", "bob"] } },
    { conversation: { id: "large", participants: uids } },
    { conversation: { id: "empty" } },
    messageLine("old/1", 1),
    messageLine("old/2", 2, { senderId: "gone", attachments: [{ name: "a" }] }),
  ]);
  await org.sent("alice", { cid: "room", body: "sent", x: { deep: { a: [1, "2", null] } } });
  await org.sentSystem("alice", { uids: ["bob"], x: {} });
  await org.sent("bob", {
    cid: "room",
    body: "",
    attachments: [{ name: "f.txt", size: 1, content_type: "text/plain" }],
  });
  return org;
}

describe("an export", () => {
  test("has users, then conversations with participants, then messages", async () => {
    const org = await createOrganization(herald());
    await org.conversation(["alice", "bob"], "room");
    await herald().admin("PUT", org.path("users", "eve"), { name: "Eve", blocked: true });
    const { server_mid } = await org.sent("bob", { cid: "room", body: "hi", x: { a: 1 } });
    const [message] = await org.history("room");
    expect(await exportOf(org)).toEqual([
      { user: { id: "alice", name: null } },
      { user: { id: "bob", name: null } },
      { user: { id: "eve", name: "Eve", blocked: true } },
      { conversation: { id: "room", name: null, participants: ["alice", "bob"] } },
      {
        message: {
          id: server_mid,
          cid: "room",
          senderId: "bob",
          body: "hi",
          x: { a: 1 },
          created_at: message?.created_at ?? "",
        },
      },
    ]);
  });

  test("imported into another organization, makes the same one, whose export is identical", async () => {
    const org = await filled();
    const lines = await exportOf(org);
    const copy = await createOrganization(herald());
    expect((await importInto(copy, lines)).end).toEqual({ done: true, lines: lines.length, failed: 0 });
    expect(await exportOf(copy)).toEqual(lines);
    const contentOf = (all: { _id: string }[]) => all.map(({ _id, ...content }) => content);
    expect(contentOf(await copy.history("room"))).toEqual(contentOf(await org.history("room")));
  });

  test("imported into its own organization, changes nothing", async () => {
    const org = await filled();
    const lines = await exportOf(org);
    expect((await importInto(org, lines)).end).toEqual({ done: true, lines: lines.length, failed: 0 });
    expect(await exportOf(org)).toEqual(lines);
  });

  test("keeps the ids of messages where they are free", async () => {
    const org = await createOrganization(herald());
    await org.conversation(["alice"], "room");
    await org.sent("alice", { cid: "room", body: "1" });
    await org.sent("alice", { cid: "room", body: "2" });
    const before = await org.history("room");
    const lines = await exportOf(org);
    await herald().admin("DELETE", org.path());
    const copy = await createOrganization(herald());
    const id = Bun.randomUUIDv7();
    const at = new Date().toISOString();
    await importInto(copy, [lines[1] ?? {}, messageLine(id, 0, { created_at: at })]);
    expect((await copy.history("room")).map(({ _id }) => _id)).toEqual([id]);
    expect(before).toHaveLength(2);
  });

  test("of a user has the user, the user's conversations and what the user wrote", async () => {
    const org = await filled();
    const lines = await exportOf(org, "users", "alice");
    expect(lines.slice(0, 2)).toEqual([
      { user: { id: "alice", name: "Alice 🙂" } },
      { conversation: { id: "room", name: "Room", participants: ["alice"] } },
    ]);
    expect(lines.slice(2)).toMatchObject([{ message: { id: "old/1" } }, { message: { body: "sent" } }]);
  });

  test("needs both rights to read, the organization and the user", async () => {
    const org = await createOrganization(herald());
    for (const scopes of [["history:read"], ["directory:read"]]) {
      const { key } = await createKey(herald(), { scopes });
      const { status, body } = await herald().admin("GET", org.path("export"), undefined, { "Admin-Api-Key": key });
      expect([status, body.code]).toEqual([403, "insufficient_scope"]);
    }
    expect((await herald().admin("GET", org.path("users", "nobody", "export"))).body.code).toBe("user_not_found");
    expect((await herald().admin("GET", "/admin/organizations/none/export")).body.code).toBe("organization_not_found");
  });
});
