import { expect, test } from "bun:test";
import { openFeed } from "../../harness/clients/sse.ts";
import type { SystemMessageReport } from "../../harness/clients/wire.ts";
import { eventually } from "../../harness/deadline.ts";
import { uniqueId } from "../../harness/random.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { filesWith } from "../../harness/reading/files.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createKey } from "../../harness/servers/keys.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { proposing } from "../../harness/servers/proposing.ts";
import { scheduling } from "../../harness/servers/scheduling.ts";
import { importInto } from "../transfer/lines.ts";

const herald = useHerald({ oneNode: "it searches the files of an embedded database" });

test("what was taken back or has expired is in no file of the database, no answer, no event and no log line", async () => {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"]);
  const { server_mid: since } = await org.sent("alice", { cid, body: "before" });
  const names = ["sent", "long", "edited", "system", "expiring", "notice"];
  const secrets = names.map((name) => uniqueId(`secret-${name}`));
  const [sent = "", long = "", edited = "", system = "", expiring = "", notice = ""] = secrets;
  const { server_mid: short } = await org.sent("alice", { id: "m-1", cid, body: sent, x: { also: `${sent}-x` } });
  const { server_mid: large } = await org.sent("alice", { cid, body: long.repeat(1_000) });
  for (let count = 0; count < 50; count++) await org.sent("bob", { cid, body: `between ${count}` });
  await org.edited("alice", { id: short, body: `${edited} ${"y".repeat(3_000)}` });
  await org.sentSystem("alice", { id: "notice", everyone: true, x: { word: system } });
  const expires_at = new Date(Date.now() + 6_000).toISOString();
  const { server_mid: ending } = await org.sent("alice", { cid, body: "first", expires_at });
  await org.edited("alice", { id: ending, body: expiring.repeat(100) });
  await org.sentSystem("alice", { id: "ending", everyone: true, keep_days: 1, x: { word: notice }, expires_at });
  for (const secret of [long, edited, system, expiring, notice])
    expect(filesWith(herald().dataDir, secret)).not.toEqual([]);

  await org.recalled("bob", cid, short, large);
  await org.recalledSystem("alice", "notice");

  for (const secret of secrets)
    await eventually(
      () => filesWith(herald().dataDir, secret).length === 0 || undefined,
      () => `${secret} to be gone from ${filesWith(herald().dataDir, secret)}`,
    );
  using socket = await org.socket("bob", { since });
  using feed = await openFeed(herald().url, org.id, herald().key);
  await org.sent("alice", { cid, body: "after" });
  await feed.next();
  await socket.next(({ message_delete: recall }) => recall !== undefined, "the recall");
  await socket.next(({ message }) => message?.body === "after", "the message after it");
  const { messages } = await socket.request("message_list", { cid, limit: 100 });
  const calls: [string, string][] = [
    ["GET", org.path("conversations", cid, "messages")],
    ["GET", org.path("messages", short)],
    ["GET", org.path("messages", large)],
    ["GET", org.path("messages", ending)],
    ["GET", org.path("system-messages", "notice")],
    ["GET", org.path("export")],
    ["GET", org.path("users", "alice", "export")],
    ["GET", "/admin/audit"],
    ["GET", "/metrics"],
  ];
  const answers = await Promise.all(calls.map(([method, path]) => herald().admin<unknown>(method, path)));
  const shown = JSON.stringify([messages, socket.frames, feed.raw, answers.map(({ text }) => text), herald().logs()]);
  for (const secret of secrets) expect(shown).not.toContain(secret);
});

test("no word of an erased user is in any file, answer or log line, also of imported and system messages", async () => {
  const org = await createOrganization(herald());
  const named = ["name", "sent", "edited", "system", "past", "deleted", "later", "proposed"];
  const words = named.map((word) => uniqueId(`secret-${word}`));
  const [name = "", sent = "", edited = "", system = "", past = "", deleted = "", later = "", proposed = ""] = words;
  await herald().admin("PUT", org.path("users", "alice"), { name });
  const [cid, other] = [await org.conversation(["alice", "bob"]), await org.conversation(["alice", "bob"])];
  const { server_mid: id } = await org.sent("alice", { cid, body: sent, x: { word: sent } });
  await org.edited("alice", { id, body: edited.repeat(1_000) });
  await org.sent("alice", { cid: other, body: deleted });
  await herald().admin("DELETE", org.path("conversations", other));
  await org.sentSystem("alice", { id: "notice", uids: ["bob"], x: { word: system } });
  const created_at = "2024-01-01T00:00:00Z";
  await importInto(org, [{ message: { id: "past-1", cid, senderId: "alice", body: past, created_at } }]);
  const { put, get, messageOf } = scheduling(org);
  await put("one", { send_at: "2020-01-01T00:00:00Z", request: messageOf("alice", { cid, body: `${sent} then` }) });
  const send_at = new Date(Date.now() + 86_400_000).toISOString();
  await put("two", { send_at, request: messageOf("alice", { cid, body: later }) });
  await scheduling(org).ended("one");
  const { key: agent } = await createKey(herald(), { scopes: ["message:propose"] });
  const proposals = proposing(org);
  const wish = { request: messageOf("alice", { cid, body: proposed }), reason: `${proposed} because` };
  for (const pid of ["waiting", "rejected", "approved"])
    expect((await proposals.put(pid, wish, agent)).status).toBe(201);
  expect((await proposals.reject("rejected", undefined, { reason: proposed })).body.state).toBe("rejected");
  expect((await proposals.approve("approved")).body.state).toBe("approved");
  for (const word of words) expect(filesWith(herald().dataDir, word)).not.toEqual([]);
  expect((await herald().admin("DELETE", `${org.path("users", "alice")}?messages=erase`)).status).toBe(204);
  for (const word of words)
    await eventually(
      () => filesWith(herald().dataDir, word).length === 0 || undefined,
      () => `${word} to be gone from ${filesWith(herald().dataDir, word)}`,
    );
  expect((await get("two")).body).toMatchObject({ state: "cancelled", request: null });
  for (const pid of ["waiting", "rejected", "approved"]) expectProblem(await proposals.get(pid), 404, "not_found");
  const report = await herald().admin<SystemMessageReport>("GET", org.path("system-messages", "notice"));
  expect(report.body.system_message).toMatchObject({ _id: "notice", from: "alice", x: {} });
  const paths = [org.path("export"), org.path("messages", id), org.path("conversations", cid, "messages")];
  const answers = await Promise.all(paths.map((path) => herald().admin<unknown>("GET", path)));
  const shown = JSON.stringify([answers.map(({ text }) => text), report.text, herald().logs()]);
  for (const word of words) expect(shown).not.toContain(word);
});
