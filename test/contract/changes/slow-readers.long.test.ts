import { describe, expect, test } from "bun:test";
import { openUnreadStream, type UnreadStream } from "../../harness/clients/unread-stream.ts";
import { eventually, within } from "../../harness/deadline.ts";
import { uniqueId } from "../../harness/random.ts";
import { heldBy } from "../../harness/reading/held.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald({
  oneNode: "it reads what the node holds",
  env: {
    HERALD_LIMIT_RECOVERY_MESSAGES: "10000",
    HERALD_LIMIT_CONNECTION_BACKLOG_BYTES: "33554432",
    HERALD_LIMIT_PONG_SECONDS: "120", // a slow machine fills for longer than a reader that takes nothing is kept
  },
});

const long = "x".repeat(60_000);

const settledMs = 300;
const muchBytes = 8_000_000; // more than the kernel takes later, when its buffers grow

/** Sends long messages until the node holds many bytes for the slow reader, and the kernel takes no more of them. */
async function fill(org: Organization, cid: string): Promise<void> {
  const waiting = async () => (await heldBy(herald())).waiting_bytes ?? 0;
  await eventually(
    async () => {
      for (let count = 0; count < 40; count++) await org.sent("alice", { cid, body: long });
      const before = await waiting();
      if (before < muchBytes) return undefined;
      await Bun.sleep(settledMs);
      return (await waiting()) === before || undefined;
    },
    "bytes to wait for the reader",
    40_000,
  );
}

/** Reads on until a text arrives, and returns all that was read. */
async function readUntil({ socket }: UnreadStream, text: string): Promise<string> {
  let read = "";
  const found = new Promise<void>((resolve) => {
    socket.on("data", (data: Buffer) => {
      read += data.toString("latin1");
      if (read.includes(text)) resolve();
    });
  });
  socket.resume();
  await within(found, `${text} in the stream`);
  return read;
}

describe("a recall while a slow reader has the message waiting", () => {
  test("keeps it from being written to a stream, and is written itself", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using stream = await openUnreadStream(herald().url, "/sse", { Authorization: `Bearer ${await org.token("bob")}` });
    await fill(org, cid);
    const [secret, edited, kept] = ["secret", "edited-secret", "kept"].map(uniqueId);
    const { server_mid: id } = await org.sent("alice", { cid, body: secret });
    await org.edited("alice", { id, body: edited });
    const { server_mid: other } = await org.sent("alice", { cid, body: kept });
    await org.recalled("alice", cid, id);
    const read = await readUntil(stream, '"message_delete"');
    expect(read).toContain(`"body":"${kept}"`);
    expect(read).toContain(other);
    for (const gone of [secret, edited]) expect(read).not.toContain(gone);
  });

  test("keeps a system message from being written to a stream", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using stream = await openUnreadStream(herald().url, "/sse", { Authorization: `Bearer ${await org.token("bob")}` });
    await fill(org, cid);
    const [secret, kept] = ["secret", "kept"].map(uniqueId);
    await org.sentSystem("alice", { id: "s-1", everyone: true, x: { secret } });
    await org.sentSystem("bob", { id: "s-1", everyone: true, x: { kept } });
    await org.recalledSystem("alice", "s-1");
    const read = await readUntil(stream, '"system_message_delete"');
    expect(read).toContain(`"x":{"kept":"${kept}"}`);
    expect(read).not.toContain(secret);
  });

  test("keeps it from being written to a stream that is still catching up", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const { server_mid: since } = await org.sent("alice", { cid, body: "since" });
    const headers = { Authorization: `Bearer ${await org.token("bob")}`, "Last-Event-ID": since };
    for (let count = 0; count < 200; count++) await org.sent("alice", { cid, body: long });
    const secret = uniqueId("secret");
    const { server_mid: id } = await org.sent("alice", { cid, body: secret });
    const { server_mid: last } = await org.sent("alice", { cid, body: "last" });
    using stream = await openUnreadStream(herald().url, "/sse", headers);
    await eventually(
      async () => ((await heldBy(herald())).waiting_bytes ?? 0) > 0 || undefined,
      "bytes to wait for the reader",
    );
    await org.recalled("alice", cid, id);
    const read = await readUntil(stream, '"message_delete"');
    expect(read).toContain(last);
    expect(read).not.toContain(secret);
  });

  test("keeps it from being written to a feed", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using feed = await openUnreadStream(herald().url, org.path("events"), { "Admin-Api-Key": herald().key });
    await fill(org, cid);
    const secret = uniqueId("secret");
    const { server_mid: id } = await org.sent("alice", { cid, body: secret });
    await org.recalled("alice", cid, id);
    expect(await readUntil(feed, '"message_delete"')).not.toContain(secret);
  });
});

test("a slow reader of a stream gets the pieces of a message that wait in one, in the order of the log", async () => {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"]);
  using stream = await openUnreadStream(herald().url, "/sse", { Authorization: `Bearer ${await org.token("bob")}` });
  await fill(org, cid);
  const words = Array.from({ length: 40 }, (_, index) => `word-${index} `);
  const { server_mid: id } = await org.sent("alice", { cid, open: true });
  let offset = 0;
  for (const text of words) offset = await org.appended("alice", { id, offset, text });
  const { server_mid: between } = await org.sent("alice", { cid, body: "between" });
  offset = await org.appended("alice", { id, offset, text: "the " });
  await org.appended("alice", { id, offset, text: "end", done: true });
  const read = await readUntil(stream, '"done":true');
  const text = words.join("");
  expect(read.split("event: message_append")).toHaveLength(3);
  expect(read).toContain(`"offset":0,"text":"${text}","done":false`);
  expect(read).toContain(`"offset":${text.length},"text":"the end","done":true`);
  expect(read.indexOf(between)).toBeWithin(read.indexOf(text), read.indexOf('"the end"'));
});
