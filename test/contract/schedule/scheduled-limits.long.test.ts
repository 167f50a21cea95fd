import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { scheduling } from "../../harness/servers/scheduling.ts";

const herald = useHerald({
  oneNode: "other nodes learn of an organization's limits within 5 s, and count their own sends",
});

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

async function setUp() {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"]);
  return { org, cid, ...scheduling(org) };
}

describe("a scheduled send of an organization with limits", () => {
  test("is refused at the organization's storage limit, which what waits counts towards", async () => {
    const { org, cid, put, cancel, ended, messageOf } = await setUp();
    const stored = async () =>
      (await herald().admin<{ usage: { stored_bytes: number } }>("GET", org.path())).body.usage.stored_bytes;
    const before = await stored();
    const order = { send_at: inMs(86_400_000), request: messageOf("alice", { cid, body: "x".repeat(1_000) }) };
    await put("one", order);
    await put("two", order);
    const waiting = (await stored()) - before;
    expect(waiting).toBeWithin(2_000, 3_000);
    await put("two", { ...order, request: messageOf("alice", { cid, body: "", attachments: [{ name: "f" }] }) });
    expect((await stored()) - before).toBeWithin(waiting / 2, waiting);
    await cancel("two");
    expect((await stored()) - before).toBe(waiting / 2);
    await put("one", { ...order, send_at: "2020-01-01T00:00:00Z" });
    await ended("one");
    expect((await stored()) - before).toBeWithin(1_000, waiting / 2 + 100); // the message alone
    await herald().admin("PUT", org.path(), { limits: { stored_bytes: (await stored()) + 500 } });
    const refused = await put("three", order);
    expectProblem(refused, 422, "invalid_request");
  });

  test("waits until its organization's rate allows it", async () => {
    const { org, cid, put, ended, messageOf } = await setUp();
    await herald().admin("PUT", org.path(), { limits: { messages_per_second: 2 } });
    const ids = Array.from({ length: 8 }, (_, n) => `s${n}`);
    const send_at = inMs(4_000);
    for (const sid of ids) await put(sid, { send_at, request: messageOf("alice", { cid, body: sid }) });
    const times: number[] = [];
    for (const sid of ids) times.push(Date.parse((await ended(sid)).sent_at ?? ""));
    expect(Math.max(...times) - Math.min(...times)).toBeWithin(1_000, 10_000);
    expect(await org.history(cid)).toHaveLength(8);
  });
});
