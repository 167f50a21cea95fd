import { describe, expect, test } from "bun:test";
import { useHerald } from "../../harness/servers/herald.ts";
import { createKey } from "../../harness/servers/keys.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { importInto, messageLine } from "./lines.ts";

const herald = useHerald();
const room = { conversation: { id: "room", name: "Room", participants: ["alice", "bob"] } };

describe("an import", () => {
  test("adds users, conversations, participants and messages of the past", async () => {
    const org = await createOrganization(herald());
    const { status, report } = await importInto(org, [
      { user: { id: "alice", name: "Alice" } },
      room,
      { participant: { cid: "room", uid: "carol" } },
      messageLine("m1", 1),
      messageLine("m2", 2, { senderId: "gone", x: {}, attachments: [{ name: "a.pdf", size: 3, content_type: "a/b" }] }),
    ]);
    expect({ status, report }).toEqual({ status: 200, report: [{ done: true, lines: 5, failed: 0 }] });
    const get = async (...path: string[]) =>
      (await herald().admin<Record<string, unknown>>("GET", org.path(...path))).body;
    expect(await get("users", "alice")).toMatchObject({ id: "alice", name: "Alice" });
    expect(await get("users", "carol")).toMatchObject({ name: null });
    expect(await get("conversations", "room")).toMatchObject({ name: "Room" });
    expect(await get("conversations", "room", "participants")).toMatchObject({
      items: [{ id: "alice" }, { id: "bob" }, { id: "carol" }],
    });
    const [second, first] = await org.history("room");
    expect(first).toEqual({
      _id: expect.any(String),
      t: Date.UTC(2024, 0, 1, 0, 1) / 1000,
      from: "alice",
      body: "body of m1",
      cid: "room",
      x: { n: 1 },
      attachments: [],
      created_at: "2024-01-01T00:01:00.000Z",
    });
    expect(second).toMatchObject({ from: "gone", attachments: [{ file_id: expect.any(String), file_name: "a.pdf" }] });
  });

  test("changes nothing when it is sent again, also after a part of it", async () => {
    const org = await createOrganization(herald());
    const lines = [
      { user: { id: "dave", name: null } },
      room,
      { participant: { cid: "room", uid: "carol" } },
      ...Array.from({ length: 30 }, (_, index) => messageLine(`m${index}`, index, { attachments: [{ name: "f" }] })),
    ];
    await importInto(org, lines.slice(0, 20));
    await importInto(org, lines);
    const before = await org.history("room");
    expect(before).toHaveLength(30);
    using listener = await org.socket("alice");
    for (const repeated of [lines, lines.toReversed()])
      expect((await importInto(org, repeated)).end).toEqual({ done: true, lines: 33, failed: 0 });
    expect(await org.history("room")).toEqual(before);
    await org.expectNothingElse(listener);
  });

  test("reports each thousand lines, and each fault with its line, its code and where it is", async () => {
    const org = await createOrganization(herald());
    const users = Array.from({ length: 1_500 }, (_, index) => ({ user: { id: `u${index}` } }));
    const { report } = await importInto(org, [
      room,
      "not JSON",
      '{"user":{"id":"a","id":"b"}}',
      { user: { id: "u", nam: "x" } },
      { person: { id: "u" } },
      [1],
      { participant: { cid: "missing", uid: "u" } },
      messageLine("m", 0, { cid: "missing" }),
      messageLine("m", 0, { created_at: "yesterday" }),
      messageLine("m", 0, { created_at: "2999-01-01T00:00:00Z" }),
      messageLine("m", 0, { body: "" }),
      messageLine("m", 0),
      messageLine("m", 0, { body: "another" }),
      "",
      ...users,
    ]);
    const faults = report.flatMap(({ line, problem }) =>
      line === undefined ? [] : [[line, problem?.code, problem?.errors?.[0]?.pointer]],
    );
    expect(faults).toEqual([
      [2, "malformed_json", undefined],
      [3, "invalid_request", "/user/id"],
      [4, "invalid_request", "/user/nam"],
      [5, "invalid_request", ""],
      [6, "invalid_request", ""],
      [7, "conversation_not_found", undefined],
      [8, "conversation_not_found", undefined],
      [9, "invalid_request", "/message/created_at"],
      [10, "invalid_request", "/message/created_at"],
      [11, "invalid_request", "/message"],
      [13, "message_id_conflict", undefined],
    ]);
    expect(report.slice(-2)).toEqual([
      { lines: 1_000, failed: 11 },
      { done: true, lines: 1_514, failed: 11 },
    ]);
    expect(await org.history("room")).toHaveLength(1);
  });

  test("refuses a line that is longer than a request may be, or not UTF-8, and imports the others", async () => {
    const org = await createOrganization(herald());
    const long = JSON.stringify({ user: { id: "u", name: "x".repeat(2 * 1024 * 1024) } });
    const body = Buffer.concat([
      Buffer.from(`${JSON.stringify({ user: { id: "a" } })}\n${long}\n`),
      Buffer.from([0x7b, 0xff, 0x0a]),
      Buffer.from(JSON.stringify({ user: { id: "b" } })), // without an end of line
    ]);
    const headers = { "Admin-Api-Key": herald().key, "Content-Type": "application/x-ndjson" };
    const { text } = await herald().http<unknown>("POST", org.path("import"), { body, headers });
    const report = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(report.map(({ line, problem, done, failed }) => [line, problem?.code, done, failed])).toEqual([
      [2, "payload_too_large", undefined, undefined],
      [3, "malformed_json", undefined, undefined],
      [undefined, undefined, true, 2],
    ]);
    const { body: page } = await herald().admin<{ items: { id: string }[] }>("GET", org.path("users"));
    expect(page.items.map(({ id }) => id)).toEqual(["a", "b"]);
  });

  test("with dry_run checks everything, knows the conversations of earlier lines, and stores nothing", async () => {
    const org = await createOrganization(herald());
    const { report } = await importInto(org, [room, messageLine("m", 0), messageLine("n", 0, { cid: "missing" })], {
      query: "?dry_run=true",
    });
    expect(report).toMatchObject([
      { line: 3, problem: { code: "conversation_not_found" } },
      { done: true, failed: 1 },
    ]);
    expect((await herald().admin("GET", org.path("conversations", "room"))).status).toBe(404);
  });

  test("is refused as a whole without the organization, the scope or the media type", async () => {
    const org = await createOrganization(herald());
    const headers = { "Admin-Api-Key": herald().key, "Content-Type": "application/json" };
    expect((await herald().http("POST", org.path("import"), { body: "{}", headers })).body.code).toBe(
      "unsupported_media_type",
    );
    const reader = await createKey(herald(), { scopes: ["directory:read"] });
    expect((await importInto(org, [room], { key: reader.key })).status).toBe(403);
    const nowhere = { ...org, path: (...path: string[]) => org.path(...path).replace(org.id, "no-such-organization") };
    expect((await importInto(nowhere, [room])).status).toBe(404);
  });

  test("needs the right to send as the author of each message", async () => {
    const org = await createOrganization(herald());
    const writer = await createKey(herald(), { scopes: ["directory:write"] });
    expect((await importInto(org, [room, messageLine("m", 0)], { key: writer.key })).report).toMatchObject([
      { line: 2, problem: { code: "insufficient_scope" } },
      { done: true, lines: 2, failed: 1 },
    ]);
    const bound = await createKey(herald(), { scopes: ["directory:write", "message:send"], allowed_senders: ["bob"] });
    const lines = [messageLine("m", 0), messageLine("n", 1, { senderId: "bob" })];
    expect((await importInto(org, lines, { key: bound.key })).report).toMatchObject([
      { line: 1, problem: { code: "sender_forbidden" } },
      { done: true, lines: 2, failed: 1 },
    ]);
  });

  test("leaves one entry in the audit log, with its counts", async () => {
    const org = await createOrganization(herald());
    await importInto(org, [room, "x", { user: { id: "u" } }]);
    const { body } = await herald().admin<{ items: object[] }>(
      "GET",
      `/admin/audit?organization=${org.id}&operation=importLines`,
    );
    expect(body.items).toMatchObject([{ target: { organization: org.id, lines: "3", failed: "1" }, status: 200 }]);
  });
});

test("an import is in the audit log before it reports progress, so that one that is killed is, too", async () => {
  const org = await createOrganization(herald());
  const input = new TransformStream<Uint8Array, Uint8Array>();
  const writer = input.writable.getWriter();
  const answered = fetch(herald().url + org.path("import"), {
    method: "POST",
    headers: { "Admin-Api-Key": herald().key, "Content-Type": "application/x-ndjson" },
    body: input.readable,
  });
  const users = Array.from({ length: 1_700 }, (_, index) => `{"user":{"id":"u${index}"}}\n`).join("");
  await writer.write(new TextEncoder().encode(users));
  const { body } = await answered;
  const reader = (body ?? new ReadableStream<Uint8Array>()).getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toContain('{"lines":1000,"failed":0}');
  const entries = async () => {
    const path = `/admin/audit?organization=${org.id}&operation=importLines`;
    return (await herald().admin<{ items: { target: { lines?: string }; request_id: string }[] }>("GET", path)).body
      .items;
  };
  const [begun, ...others] = await entries();
  expect(others).toEqual([]);
  expect(Number(begun?.target.lines)).toBeGreaterThanOrEqual(1_000);
  await writer.close();
  while (!(await reader.read()).done);
  expect(await entries()).toMatchObject([{ target: { lines: "1700" }, request_id: begun?.request_id }, begun ?? {}]);
});

describe("an imported message", () => {
  test("is delivered to nobody, and stands before what was sent, in lists and for later pages", async () => {
    const org = await createOrganization(herald());
    await importInto(org, [room]);
    using bob = await org.socket("bob");
    using stream = await org.sse("bob");
    const sent = await org.sent("alice", { cid: "room", body: "sent" });
    for (const listener of [bob, stream]) expect((await listener.next()).message?.body).toBe("sent");
    await importInto(org, [messageLine("m1", 1), messageLine("m2", 2)]);
    await importInto(org, [messageLine("m3", 0)]); // imported later: stands later, whenever it was written
    await org.expectNothingElse(bob, stream);
    const bodies = ["sent", "body of m3", "body of m2", "body of m1"];
    expect((await org.history("room")).map(({ body }) => body)).toEqual(bodies);
    const list = async (query: object) =>
      (await bob.request("message_list", { cid: "room", ...query })).messages?.map(({ body }) => body);
    expect(await list({})).toEqual(bodies);
    expect(await list({ before: sent.server_mid, limit: 2 })).toEqual(bodies.slice(1, 3));
    const oldest = (await org.history("room")).at(-1)?._id;
    expect(await list({ after: oldest })).toEqual(bodies.slice(0, 3).toReversed());
    expect(await list({ before: oldest })).toEqual([]);
  });

  test("is not what `since` replays; as `since` itself, it says that the client must page", async () => {
    const org = await createOrganization(herald());
    await importInto(org, [room]);
    const first = await org.sent("alice", { cid: "room", body: "first" });
    await importInto(org, [messageLine("m1", 1, { created_at: new Date().toISOString() })]);
    await org.sent("alice", { cid: "room", body: "second" });
    const resumed = await org.connect("bob", { since: first.server_mid });
    expect(resumed.response.recovered).toBe(true);
    expect((await resumed.socket.next()).message?.body).toBe("second");
    await org.expectNothingElse(resumed.socket);
    const imported = (await org.history("room")).find(({ body }) => body === "body of m1");
    const other = await org.connect("bob", { since: imported?._id ?? "" });
    expect(other.response.recovered).toBe(false);
    await org.expectNothingElse(other.socket);
  });

  test("has a report of zeros, and is the last message of a conversation that has no other", async () => {
    const org = await createOrganization(herald());
    await importInto(org, [room, { conversation: { id: "older", participants: ["alice"] } }]);
    await importInto(org, [messageLine("m1", 5), messageLine("m2", 3, { cid: "older" })]);
    const [message] = await org.history("room");
    const { body } = await herald().admin<Record<string, unknown>>("GET", org.path("messages", message?._id ?? ""));
    expect(body).toMatchObject({ message: { body: "body of m1" }, delivery: { recipients: 0, delivered_users: 0 } });
    using alice = await org.socket("alice");
    const { conversations } = await alice.request("conversation_list", {});
    expect(conversations?.map(({ _id, updated_at }) => [_id, updated_at])).toEqual([
      ["room", "2024-01-01T00:05:00.000Z"],
      ["older", "2024-01-01T00:03:00.000Z"],
    ]);
  });

  test("is gone with its conversation, and comes again with an import into a new one of the same id", async () => {
    const org = await createOrganization(herald());
    const lines = [room, messageLine("m1", 1)];
    await importInto(org, lines);
    const [first] = await org.history("room");
    await herald().admin("DELETE", org.path("conversations", "room"));
    await org.conversation(["alice"], "room");
    expect(await org.history("room")).toEqual([]);
    expect((await herald().admin("GET", org.path("messages", first?._id ?? ""))).status).toBe(404);
    await importInto(org, lines);
    expect((await org.history("room")).map(({ body }) => body)).toEqual(["body of m1"]);
  });
});

test("a participant added by an import hears what is sent from then on, on an open connection", async () => {
  const org = await createOrganization(herald());
  await org.token("bob");
  using bob = await org.socket("bob");
  using stream = await org.sse("bob");
  await importInto(org, [
    { conversation: { id: "room", participants: ["alice"] } },
    { participant: { cid: "room", uid: "bob" } },
  ]);
  await org.sent("alice", { cid: "room", body: "welcome" });
  for (const listener of [bob, stream]) expect((await listener.next()).message?.body).toBe("welcome");
});

test("a user who is blocked by an import is cut off", async () => {
  const org = await createOrganization(herald());
  using bob = await org.socket("bob");
  await importInto(org, [{ user: { id: "bob", blocked: true } }]);
  expect((await bob.closed).code).toBe(4403);
});
