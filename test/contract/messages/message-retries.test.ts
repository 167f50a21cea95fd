import { describe, expect, test } from "bun:test";
import type { Ask } from "../../harness/clients/wire.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald();
const file = { name: "a.txt", size: 1, content_type: "text/plain" };

describe("a message id", () => {
  test("sent again is a retry: the first answer, marked as replayed, and nothing stored or delivered twice", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using bob = await org.socket("bob");
    const message = { id: "m-1", cid, body: "once", x: { a: 1 }, attachments: [file] };
    const first = await org.send("alice", message);
    const again = await org.send("alice", message);
    expect(again.status).toBe(201);
    expect(again.text).toBe(first.text);
    expect(again.headers.get("content-type")).toBe(first.headers.get("content-type") ?? "");
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect((await bob.next()).message?._id).toBe(first.body.ask.server_mid);
    await org.expectNothingElse(bob);
    expect(await org.history(cid)).toHaveLength(1);
  });

  test("sent again unchanged is a retry in any spelling of its JSON", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const first = await org.sent("alice", { id: "m-1", cid, body: "é", x: { a: 1, b: [{ c: 2, d: 3 }] } });
    const spelled = `{ "message" : {"x":{"b":[ {"d":3,"c":2} ],"a":1.0},\n"body":"\\u00e9","cid":${JSON.stringify(cid)},"id":"m-\\u0031"},"senderId":"alice","organizationId":${JSON.stringify(org.id)} }`;
    const again = await herald().http<Ask>("POST", "/admin/message", {
      body: spelled,
      headers: { "Admin-Api-Key": herald().key, "Content-Type": "application/json; charset=utf-8" },
    });
    expect(again.status).toBe(201);
    expect(again.body.ask).toEqual(first);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await org.history(cid)).toHaveLength(1);
  });

  test("with another payload is a conflict, whichever field differs", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const elsewhere = await org.conversation(["alice", "bob"]);
    using bob = await org.socket("bob");
    const message = {
      id: "m-1",
      cid,
      body: "text",
      x: { a: 1, list: [1, 2] },
      attachments: [file, { ...file, name: "b" }],
    };
    const first = await org.send("alice", message);
    const changes: Record<string, unknown>[] = [
      { cid: elsewhere },
      { body: "Text" },
      { body: "text " },
      { body: undefined },
      { x: { a: 2, list: [1, 2] } },
      { x: { a: 1, list: [2, 1] } },
      { x: { a: 1, list: [1, 2], b: 1 } },
      { x: { a: "1", list: [1, 2] } },
      { x: undefined },
      { attachments: [{ ...file, name: "b" }, file] },
      { attachments: [file] },
      { attachments: [file, { ...file, name: "c" }] },
      { attachments: [file, { ...file, name: "b", size: 2 }] },
      { attachments: [file, { ...file, name: "b", content_type: "text/html" }] },
      { attachments: [file, { ...file, name: "b", file_id: "0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b" }] },
      { attachments: undefined },
    ];
    for (const change of changes)
      expectProblem(await org.send<unknown>("alice", { ...message, ...change }), 409, "message_id_conflict");
    expect((await org.send("alice", message)).text).toBe(first.text);
    expect(await org.history(cid)).toHaveLength(1);
    expect(await org.history(elsewhere)).toHaveLength(0);
    await bob.next();
    await org.expectNothingElse(bob);
  });

  test("belongs to its sender, its organization and its operation", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    await other.conversation(["alice"], cid);
    using bob = await org.socket("bob");
    const asks = [
      await org.sent("alice", { id: "m-1", cid, body: "1" }),
      await org.sent("bob", { id: "m-1", cid, body: "2" }),
    ];
    const elsewhere = await other.sent("alice", { id: "m-1", cid, body: "3" });
    const ack = await org.sentSystem("alice", { id: "m-1", uids: ["bob"], x: { n: 4 } });
    expect(new Set([...asks, elsewhere].map((ask) => ask.server_mid)).size).toBe(3);
    expect([...asks, elsewhere, ack].map((answer) => answer.mid)).toEqual(["m-1", "m-1", "m-1", "m-1"]);
    expect((await bob.next()).message?.body).toBe("1");
    expect((await bob.next()).message?.body).toBe("2");
    expect((await bob.next()).system_message?.x).toEqual({ n: 4 });
    expect((await other.history(cid)).map((message) => message.body)).toEqual(["3"]);
  });

  test("may be the server_mid of an earlier answer", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    // The seed: `message.id` is "obtained from the server (the `server_mid` of a previous response)". So each answer's
    // id must work for the next send, even the id of a message sent without one.
    const first = await org.sent("alice", { cid, body: "first" });
    const second = await org.sent("alice", { id: first.server_mid, cid, body: "second" });
    expect(second.mid).toBe(first.server_mid);
    expect(second.server_mid).not.toBe(first.server_mid);
    const third = await org.sent("alice", { id: second.server_mid, cid, body: "third" });
    expect(third.mid).toBe(second.server_mid);
    expect(await org.sent("alice", { id: second.server_mid, cid, body: "third" })).toEqual(third);
    expect((await org.history(cid)).map((message) => message.body)).toEqual(["third", "second", "first"]);
  });

  test("retried a hundred times at once makes one message and a hundred equal answers", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using bob = await org.socket("bob");
    const message = { id: "m-1", cid, body: "once", attachments: [file] };
    const answers = await Promise.all(Array.from({ length: 100 }, () => org.send("alice", message)));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201]));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get("idempotent-replayed") === null)).toHaveLength(1);
    expect(answers.filter((answer) => answer.headers.get("idempotent-replayed") === "true")).toHaveLength(99);
    expect((await bob.next()).message?._id).toBe(answers[0]?.body.ask.server_mid);
    await org.expectNothingElse(bob);
    expect(await org.history(cid)).toHaveLength(1);
  });

  test("sent at once with different payloads keeps one of them and refuses the others", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        org.send<Ask>("alice", { id: "m-1", cid, body: `version ${index % 4}` }),
      ),
    );
    const history = await org.history(cid);
    expect(history).toHaveLength(1);
    const isKept = (_: unknown, index: number) => history[0]?.body === `version ${index % 4}`;
    const kept = answers.filter(isKept);
    const others = answers.filter((answer, index) => !isKept(answer, index));
    expect([kept.length, others.length]).toEqual([10, 30]);
    for (const answer of kept) expect(answer.body.ask.server_mid).toBe(history[0]?._id ?? "");
    for (const answer of others) expectProblem(answer, 409, "message_id_conflict");
  });

  test("that was refused is free for a better request", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    expectProblem(await org.send<unknown>("alice", { id: "m-1", cid, body: "" }), 422, "invalid_request");
    expectProblem(
      await org.send<unknown>("alice", { id: "m-1", cid: "nowhere", body: "x" }),
      404,
      "conversation_not_found",
    );
    expectProblem(await org.send<unknown>("nobody", { id: "m-1", cid, body: "x" }), 403, "sender_not_participant");
    const answer = await org.send("alice", { id: "m-1", cid, body: "x" });
    expect(answer.status).toBe(201);
    expect(answer.headers.has("idempotent-replayed")).toBe(false);
  });

  test("is answered as the first time even if the sender has left since", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const first = await org.send("alice", { id: "m-1", cid, body: "x" });
    await org.leave(cid, "alice");
    const again = await org.send("alice", { id: "m-1", cid, body: "x" });
    expect(again.status).toBe(201);
    expect(again.text).toBe(first.text);
  });
});
