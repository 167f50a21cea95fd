import { expect, test } from "bun:test";
import { importInto } from "../contract/transfer/lines.ts";
import { eventually } from "../harness/deadline.ts";
import { uniqueId } from "../harness/random.ts";
import { filesOf } from "../harness/servers/files.ts";
import type { Herald } from "../harness/servers/herald.ts";
import { createKey } from "../harness/servers/keys.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { proposing } from "../harness/servers/proposing.ts";
import { hooksOf, startReceiver } from "../harness/servers/receiver.ts";
import { scheduling } from "../harness/servers/scheduling.ts";

/** The columns that hold a text. */
export type Search = (text: string) => Promise<string[]>;

/** A receiver that repeats what it was told, and says that it failed. */
export function startEcho() {
  const receiver: ReturnType<typeof startReceiver> = startReceiver((count) =>
    Response.json(receiver.received[count - 1]?.webhook.data, { status: 500 }),
  );
  return receiver;
}

async function setUp(herald: Herald) {
  const org = await createOrganization(herald);
  const [hooks, receiver] = [hooksOf(org), startEcho()];
  await hooks.toReceiver("echo", receiver);
  /** Waits until the answers to so many posts are stored. */
  const answered = (count: number) =>
    hooks.deliveriesWhen("echo", (all) => all.filter(({ last_try }) => last_try?.answer != null).length >= count);
  return { org, receiver, answered, cid: await org.conversation(["alice", "bob"]) };
}

/** Waits until none of these words is in any column. */
export async function expectGone(search: Search, words: string[]): Promise<void> {
  for (const word of words) {
    let left: string[] = [];
    const isGone = async () => {
      left = await search(word);
      return left.length === 0 || undefined;
    };
    await eventually(isGone, () => `${word} to be gone from ${left}`);
  }
}

/** Tests that whatever a caller says in a message is in no column of the database once it is taken back or erased. */
export function describeErasedText(herald: () => Herald, search: Search): void {
  test("a recalled message is in no column of any table", async () => {
    const { org, receiver, answered, cid } = await setUp(herald());
    using _ = receiver;
    const words = ["body", "parameter", "name", "kind", "given", "edited"].map((word) => uniqueId(`secret-${word}`));
    const [body, parameter, name, kind, given, edited] = words;
    const { file_id } = await filesOf(org).uploaded(`${given}.txt`, "bytes");
    const attachments = [
      { name, size: 1, content_type: `text/${kind}` },
      { name: given, size: 5, content_type: "text/plain", file_id },
    ];
    const { server_mid: id } = await org.sent("alice", { cid, body, x: { word: parameter }, attachments });
    await answered(1);
    for (const word of words.slice(0, -1)) expect(await search(word)).not.toEqual([]);
    expect(await search(body ?? "")).toContain("webhook_delivery.last_try");
    await org.edited("alice", { id, body: edited });
    await expectGone(search, [body ?? ""]);
    await org.recalled("bob", cid, id);
    await expectGone(search, words);
  });

  test("an answer that comes after the recall is not kept", async () => {
    const org = await createOrganization(herald());
    const recalled = Promise.withResolvers<void>();
    const receiver: ReturnType<typeof startReceiver> = startReceiver(async (count) => {
      await recalled.promise;
      return Response.json(receiver.received[count - 1]?.webhook.data, { status: 500 });
    });
    using _ = receiver;
    const hooks = hooksOf(org);
    await hooks.toReceiver("late", receiver);
    const cid = await org.conversation(["alice", "bob"]);
    const word = uniqueId("secret-late");
    const { server_mid } = await org.sent("alice", { cid, body: word });
    await receiver.first(1);
    await org.recalled("alice", cid, server_mid);
    recalled.resolve();
    const [delivery] = await hooks.deliveriesWhen("late", (all) => all.some(({ tries }) => tries > 0));
    expect(delivery?.last_try).toMatchObject({ status: 500, answer: null });
    await expectGone(search, [word]);
  });

  test("what an erased user wrote is in no column of any table", async () => {
    const { org, receiver, answered, cid } = await setUp(herald());
    using _ = receiver;
    const named = ["name", "body", "parameter", "system", "past", "later", "proposed", "reason", "decision"];
    const words = named.map((word) => uniqueId(`secret-${word}`));
    const [name, body, parameter, system, past, later, proposed, reason, decision] = words;
    await herald().admin("PUT", org.path("users", "alice"), { name });
    await org.sent("alice", {
      cid,
      body,
      x: { word: parameter },
      attachments: [{ name: body, size: 1, content_type: "a/b" }],
    });
    await org.sentSystem("alice", { uids: ["bob"], x: { word: system } });
    const created_at = "2024-01-01T00:00:00Z";
    await importInto(org, [{ message: { id: "past-1", cid, senderId: "alice", body: past, created_at } }]);
    const { put, messageOf } = scheduling(org);
    const send_at = new Date(Date.now() + 86_400_000).toISOString();
    await put("later", { send_at, request: messageOf("alice", { cid, body: later }) });
    const proposals = proposing(org);
    await proposals.put("waiting", { request: messageOf("alice", { cid, body: proposed }), reason });
    const { key: agent } = await createKey(herald(), { scopes: ["message:propose"] });
    await proposals.put("decided", { request: messageOf("alice", { cid, body: proposed }), reason }, agent);
    expect((await proposals.reject("decided", undefined, { reason: decision })).status).toBe(200);
    await answered(2);
    for (const word of words) expect([word, await search(word)]).not.toEqual([word, []]);
    expect((await herald().admin("DELETE", `${org.path("users", "alice")}?messages=erase`)).status).toBe(204);
    await expectGone(search, words);
  });
}
