import { describe, expect, test } from "bun:test";
import type { Done, Problem } from "../../harness/clients/wire.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { callWith, createKey } from "../../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald();
const path = "/admin/message/typing";

const bodyOf = (org: Organization, senderId: string, typing: object) => ({ organizationId: org.id, senderId, typing });
const tell = (org: Organization, senderId: string, typing: object) =>
  herald().admin<Done & Problem>("PUT", path, bodyOf(org, senderId, typing));

describe("PUT /admin/message/typing", () => {
  test("is heard by the other participants on all their sockets, and nothing of it is stored", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["agent", "bob", "carol"]);
    const { server_mid } = await org.sent("agent", { cid, body: "hi" });
    using bob = await org.socket("bob");
    using tablet = await org.socket("bob");
    using carol = await org.socket("carol");
    using agent = await org.socket("agent");
    using stranger = await org.socket("dave");
    using stream = await org.sse("bob");
    for (const status of ["start", "start", "stop"] as const) {
      const answer = await tell(org, "agent", { cid, status });
      expect([answer.status, answer.text]).toEqual([202, '{"success":true}']);
      for (const listener of [bob, tablet, carol])
        expect(await listener.next()).toEqual({ typing: { cid, from: "agent", status, t: expect.any(Number) } });
    }
    using again = await org.socket("bob", { since: server_mid });
    await org.expectNothingElse(again, bob, tablet, carol, agent, stranger, stream);
    expect((await org.history(cid)).map(({ body }) => body)).toEqual(["hi"]);
  });

  test("is never heard after the message that ends it", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["agent", "bob"]);
    using bob = await org.socket("bob");
    for (let round = 0; round < 50; round++) {
      await tell(org, "agent", { cid, status: "start" });
      await org.sent("agent", { cid, body: `${round}` });
    }
    let newest = -1;
    for (;;) {
      const { message, typing } = await bob.next();
      if (message !== undefined) newest = Number(message.body);
      if (newest === 49) break;
      expect(typing?.from ?? message?.from).toBe("agent");
    }
    await org.expectNothingElse(bob);
  });

  test("is refused to who takes no part, and for what is not there", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["agent", "bob"]);
    await org.user("carol");
    using bob = await org.socket("bob");
    const typing = { cid, status: "start" };
    expectProblem(await tell(org, "carol", typing), 403, "sender_not_participant");
    expectProblem(await tell(org, "nobody", typing), 403, "sender_not_participant");
    expectProblem(await tell(org, "agent", { ...typing, cid: "nowhere" }), 404, "conversation_not_found");
    const elsewhere = { ...bodyOf(org, "agent", typing), organizationId: "nowhere" };
    expectProblem(await herald().admin<Problem>("PUT", path, elsewhere), 404, "organization_not_found");
    for (const wrong of [{ cid }, { cid, status: "typing" }, { ...typing, t: 1 }, { status: "stop" }])
      expectProblem(await tell(org, "agent", wrong), 422, "invalid_request");
    const { key } = await createKey(herald(), { scopes: ["message:send"], allowed_senders: ["agent"] });
    const call = (uid: string) => callWith<Problem>(herald(), key, "PUT", path, bodyOf(org, uid, typing));
    expectProblem(await call("bob"), 403, "sender_forbidden");
    expect((await call("agent")).status).toBe(202);
    expect((await bob.next()).typing?.from).toBe("agent");
    await org.expectNothingElse(bob);
  });
});
