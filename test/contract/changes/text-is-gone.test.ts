import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { openFeed } from "../../harness/clients/sse.ts";
import { eventually } from "../../harness/deadline.ts";
import { uniqueId } from "../../harness/random.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald({ oneNode: "it searches the files of an embedded database" });

/** The files below a folder that contain a text. */
function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return filesWith(path, text);
    return readFileSync(path).includes(text) ? [name] : [];
  });
}

test("what was taken back is in no file of the database, no answer, no event and no log line", async () => {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"]);
  const { server_mid: since } = await org.sent("alice", { cid, body: "before" });
  const secrets = ["sent", "long", "edited"].map((name) => uniqueId(`secret-${name}`));
  const [sent = "", long = "", edited = ""] = secrets;
  const { server_mid: short } = await org.sent("alice", { id: "m-1", cid, body: sent, x: { also: `${sent}-x` } });
  const { server_mid: large } = await org.sent("alice", { cid, body: long.repeat(1_000) });
  for (let count = 0; count < 50; count++) await org.sent("bob", { cid, body: `between ${count}` });
  await org.edited("alice", { id: short, body: `${edited} ${"y".repeat(3_000)}` });
  for (const secret of [long, edited]) expect(filesWith(herald().dataDir, secret)).not.toEqual([]);

  await org.recalled("bob", cid, short, large);

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
    ["GET", org.path("export")],
    ["GET", org.path("users", "alice", "export")],
    ["GET", "/admin/audit"],
    ["GET", "/metrics"],
  ];
  const answers = await Promise.all(calls.map(([method, path]) => herald().admin<unknown>(method, path)));
  const shown = JSON.stringify([messages, socket.frames, feed.raw, answers.map(({ text }) => text), herald().logs()]);
  for (const secret of secrets) expect(shown).not.toContain(secret);
});
