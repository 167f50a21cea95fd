import { describe, expect, test } from "bun:test";
import { expectProblem, UUID_V7 } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createKey } from "../../harness/servers/keys.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { scheduling } from "../../harness/servers/scheduling.ts";

const herald = useHerald();

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const past = "2020-01-01T00:00:00Z";

async function setUp() {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"]);
  return { org, cid, ...scheduling(org) };
}

describe("a scheduled send that cannot be sent when it is due", () => {
  const failure = (status: number, code: string, named = "") => ({
    state: "failed",
    request: null,
    sent_at: null,
    server_mid: null,
    problem: {
      type: `/docs/errors#${code}`,
      title: expect.any(String),
      status,
      code,
      detail: expect.stringContaining(named),
      request_id: expect.stringMatching(UUID_V7),
      ...(status === 422 && { errors: expect.any(Array) }),
    },
  });

  test("has failed, and says why", async () => {
    const { org, cid, put, ended, messageOf, systemOf } = await setUp();
    const gone = await org.conversation(["alice"]);
    await org.user("dave");
    const send_at = inMs(4_000);
    const orders: Record<string, [request: object, status: number, code: string, named: string]> = {
      left: [
        messageOf("bob", { cid, body: "x" }),
        403,
        "sender_not_participant",
        `\`bob\` is not a participant of the conversation \`${cid}\``,
      ],
      deleted: [messageOf("alice", { cid: gone, body: "x" }), 404, "conversation_not_found", `\`${gone}\``],
      "used id": [messageOf("alice", { id: "m", cid, body: "x" }), 409, "message_id_conflict", "`m`"],
      "no user": [systemOf("dave", { uids: ["bob"] }), 404, "sender_not_found", "`dave`"],
    };
    for (const [sid, [request]] of Object.entries(orders))
      expect((await put(sid, { send_at, request })).status).toBe(201);
    await put("fine", { send_at, request: messageOf("alice", { cid, body: "fine" }) });
    await org.leave(cid, "bob");
    await herald().admin("DELETE", org.path("conversations", gone));
    await org.sent("alice", { id: "m", cid, body: "y" });
    await herald().admin("DELETE", org.path("users", "dave"));
    for (const [sid, [, status, code, named]] of Object.entries(orders))
      expect(await ended(sid)).toMatchObject(failure(status, code, named));
    expect((await ended("fine")).state).toBe("sent");
    expectProblem(
      await put("left", { send_at: past, request: messageOf("alice", { cid, body: "z" }) }),
      409,
      "already_sent",
    );
  });

  test("has failed if its key was revoked or has expired, but not if the key is bound to networks", async () => {
    const { org, cid, put, ended, messageOf } = await setUp();
    const keys = {
      revoked: await createKey(herald(), {}),
      expired: await createKey(herald(), { expires_at: inMs(6_000) }),
      fine: await createKey(herald(), { organization: org.id, cidrs: ["127.0.0.0/8", "::1/128"] }),
    };
    const send_at = inMs(8_000);
    for (const [sid, { key }] of Object.entries(keys))
      expect((await put(sid, { send_at, request: messageOf("alice", { cid, body: sid }) }, key)).status).toBe(201);
    await herald().admin("DELETE", `/admin/keys/${keys.revoked.id}`);
    expect(await ended("revoked")).toMatchObject(failure(401, "unauthorized"));
    expect(await ended("expired")).toMatchObject(failure(401, "unauthorized"));
    expect((await ended("fine")).state).toBe("sent");
    expect((await org.history(cid)).map(({ body }) => body)).toEqual(["fine"]);
  });

  test("is sent as a retry if the same send came first", async () => {
    const { org, cid, put, ended, messageOf } = await setUp();
    const message = { id: "m", cid, body: "x" };
    await put("one", { send_at: inMs(4_000), request: messageOf("alice", message) });
    const { server_mid } = await org.sent("alice", message);
    expect(await ended("one")).toMatchObject({ state: "sent", server_mid });
    expect(await org.history(cid)).toHaveLength(1);
  });

  test("takes over when it schedules the same again", async () => {
    const { cid, put, ended, messageOf } = await setUp();
    const { id, key } = await createKey(herald(), {});
    const order = { send_at: inMs(4_000), request: messageOf("alice", { cid, body: "x" }) };
    await put("one", order, key);
    expect((await put("one", order)).status).toBe(200);
    await herald().admin("DELETE", `/admin/keys/${id}`);
    expect((await ended("one")).state).toBe("sent");
  });
});
