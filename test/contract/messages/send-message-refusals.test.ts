import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald();

const file = { name: "a.txt", size: 1, content_type: "text/plain" };

/** Posts a complete request body, of which a test may omit or break any part. */
const post = (body: unknown) => herald().admin("POST", "/admin/message", body);

async function room(): Promise<{ org: Organization; cid: string }> {
  const org = await createOrganization(herald());
  return { org, cid: await org.conversation(["alice"]) };
}

describe("POST /admin/message refuses", () => {
  test("a request without one of its required members, pointing at it", async () => {
    const { org, cid } = await room();
    const whole = { organizationId: org.id, senderId: "alice", message: { cid, body: "x" } };
    expectProblem(await post({ ...whole, organizationId: undefined }), 422, "invalid_request", "/organizationId");
    expectProblem(await post({ ...whole, senderId: undefined }), 422, "invalid_request", "/senderId");
    expectProblem(await post({ ...whole, message: undefined }), 422, "invalid_request", "/message");
    expectProblem(await post({ ...whole, message: { body: "x" } }), 422, "invalid_request", "/message/cid");
    expectProblem(await post({}), 422, "invalid_request");
    expect(await org.history(cid)).toEqual([]);
  });

  test("a member of another type, pointing at it", async () => {
    const { org, cid } = await room();
    const message = { cid, body: "x" };
    const whole = { organizationId: org.id, senderId: "alice", message };
    const refusals: [unknown, string][] = [
      [{ ...whole, organizationId: 7 }, "/organizationId"],
      [{ ...whole, organizationId: null }, "/organizationId"],
      [{ ...whole, senderId: ["alice"] }, "/senderId"],
      [{ ...whole, senderId: null }, "/senderId"],
      [{ ...whole, message: "hello" }, "/message"],
      [{ ...whole, message: [message] }, "/message"],
      [{ ...whole, message: null }, "/message"],
      [{ ...whole, message: { ...message, id: 1 } }, "/message/id"],
      [{ ...whole, message: { ...message, id: null } }, "/message/id"],
      [{ ...whole, message: { ...message, id: "" } }, "/message/id"],
      [{ ...whole, message: { ...message, cid: {} } }, "/message/cid"],
      [{ ...whole, message: { ...message, cid: "" } }, "/message/cid"],
      [{ ...whole, message: { ...message, body: 1 } }, "/message/body"],
      [{ ...whole, message: { ...message, body: null } }, "/message/body"],
      [{ ...whole, message: { ...message, x: [] } }, "/message/x"],
      [{ ...whole, message: { ...message, x: "{}" } }, "/message/x"],
      [{ ...whole, message: { ...message, x: null } }, "/message/x"],
      [{ ...whole, message: { ...message, attachments: {} } }, "/message/attachments"],
      [{ ...whole, message: { ...message, attachments: null } }, "/message/attachments"],
      [{ ...whole, message: { ...message, attachments: ["a.txt"] } }, "/message/attachments/0"],
      [{ ...whole, message: { ...message, attachments: [file, { ...file, name: 1 }] } }, "/message/attachments/1/name"],
      [{ ...whole, message: { ...message, attachments: [{ ...file, size: "1" }] } }, "/message/attachments/0/size"],
      [{ ...whole, message: { ...message, attachments: [{ ...file, size: 1.5 }] } }, "/message/attachments/0/size"],
      [{ ...whole, message: { ...message, attachments: [{ ...file, size: -1 }] } }, "/message/attachments/0/size"],
      [
        { ...whole, message: { ...message, attachments: [{ ...file, content_type: null }] } },
        "/message/attachments/0/content_type",
      ],
      [{ ...whole, message: { ...message, attachments: [{ ...file, file_id: 1 }] } }, "/message/attachments/0/file_id"],
    ];
    for (const [body, pointer] of refusals) expectProblem(await post(body), 422, "invalid_request", pointer);
    expect(await org.history(cid)).toEqual([]);
  });

  test("an unknown member at every level, but never in x", async () => {
    const { org, cid } = await room();
    const whole = { organizationId: org.id, senderId: "alice", message: { cid, body: "x" } };
    expectProblem(await post({ ...whole, organisationId: org.id }), 422, "invalid_request");
    expectProblem(await post({ ...whole, messageSystem: { uids: ["alice"] } }), 422, "invalid_request");
    expectProblem(await post({ ...whole, message: { ...whole.message, Body: "x" } }), 422, "invalid_request");
    expectProblem(await post({ ...whole, message: { ...whole.message, _id: "x" } }), 422, "invalid_request");
    expectProblem(
      await post({ ...whole, message: { ...whole.message, attachments: [{ ...file, url: "x" }] } }),
      422,
      "invalid_request",
    );
    expect(await org.history(cid)).toEqual([]);
    expect(
      (await post({ ...whole, message: { ...whole.message, x: { organisationId: 1, Body: 2, _id: 3 } } })).status,
    ).toBe(201);
  });

  test("an attachment without a name, which is what recipients see; its size and content type are optional", async () => {
    const { org, cid } = await room();
    const without = (member: string) =>
      org.send<unknown>("alice", { cid, attachments: [{ ...file, [member]: undefined }] });
    expectProblem(await without("name"), 422, "invalid_request", "/message/attachments/0/name");
    expect((await without("size")).status).toBe(201);
    expect((await without("content_type")).status).toBe(201);
  });

  test("a message with neither a body nor an attachment", async () => {
    const { org, cid } = await room();
    const empties: Record<string, unknown>[] = [
      {},
      { body: "" },
      { attachments: [] },
      { body: "", attachments: [] },
      { x: { a: 1 } },
    ];
    for (const empty of empties)
      expectProblem(await org.send<unknown>("alice", { cid, ...empty }), 422, "invalid_request");
    expect((await org.send("alice", { cid, body: " " })).status).toBe(201);
    expect((await org.send("alice", { cid, body: "", attachments: [file] })).status).toBe(201);
  });

  test("every mistake of a request at once", async () => {
    const { org } = await room();
    const answer = await post({ organizationId: org.id, senderId: 1, message: { body: 2 } });
    expectProblem(answer, 422, "invalid_request", "/senderId");
    expectProblem(answer, 422, "invalid_request", "/message/body");
    expectProblem(answer, 422, "invalid_request", "/message/cid");
  });

  test("a missing organization, with organization_not_found", async () => {
    expectProblem(
      await post({ organizationId: "nowhere", senderId: "alice", message: { cid: "c", body: "x" } }),
      404,
      "organization_not_found",
    );
  });

  test("a missing conversation, even if another organization has it, with conversation_not_found", async () => {
    const { org } = await room();
    const other = await room();
    expectProblem(await org.send<unknown>("alice", { cid: "nowhere", body: "x" }), 404, "conversation_not_found");
    expectProblem(await org.send<unknown>("alice", { cid: other.cid, body: "x" }), 404, "conversation_not_found");
    expect(await other.org.history(other.cid)).toEqual([]);
  });

  test("a sender who is not a participant, user or not, with sender_not_participant", async () => {
    const { org, cid } = await room();
    await org.user("bob");
    expectProblem(await org.send<unknown>("bob", { cid, body: "x" }), 403, "sender_not_participant");
    expectProblem(await org.send<unknown>("nobody", { cid, body: "x" }), 403, "sender_not_participant");
    expectProblem(await org.send<unknown>("Alice", { cid, body: "x" }), 403, "sender_not_participant");
    expect(await org.history(cid)).toEqual([]);
  });

  test("a sender from the moment of leaving, and accepts a sender from the moment of joining", async () => {
    const { org, cid } = await room();
    await org.user("bob");
    await org.join(cid, "bob");
    expect((await org.send("bob", { cid, body: "x" })).status).toBe(201);
    await org.leave(cid, "bob");
    expectProblem(await org.send<unknown>("bob", { cid, body: "x" }), 403, "sender_not_participant");
  });

  test("a message without delivering any of it", async () => {
    const { org, cid } = await room();
    using alice = await org.socket("alice");
    await org.send("nobody", { cid, body: "x" });
    await org.send("alice", { cid, body: "x", typo: 1 });
    await org.send("alice", { cid, body: "" });
    await org.expectNothingElse(alice);
  });
});
