import { expect, test } from "bun:test";
import { type BatchAnswer, createAdmin, HeraldApiError, type Message } from "../../sdk/admin.ts";
import { createClient } from "../../sdk/index.ts";
import { startServer } from "./testing/run-herald.ts";

async function connectAdmin(server: { url: string; cwd: string }) {
  const key = (await Bun.file(`${server.cwd}/data/admin-api-key`).text()).trim();
  return createAdmin({ url: server.url, key });
}

test("the admin client's calls are those of the server", async () => {
  await using server = await startServer({});
  const admin = await connectAdmin(server);
  const odd = "a/b *>.ü 👩‍👩‍👧?#%";
  expect(await admin.putOrganization(odd, { name: "Odd" })).toMatchObject({ id: odd, name: "Odd" });
  await admin.putOrganization(odd, { limits: { messages_per_second: 50 } });
  expect(await admin.getOrganization(odd)).toMatchObject({
    id: odd,
    name: "Odd",
    limits: { requests_per_second: null, messages_per_second: 50, connections: null, stored_bytes: null },
    usage: { connections: 0, stored_bytes: 0 },
  });
  expect((await admin.listOrganizations({ limit: 1 })).items).toHaveLength(1);
  expect(await admin.putUser(odd, "u/1", { name: null })).toMatchObject({ id: "u/1", name: null });
  expect(await admin.getUser(odd, "u/1")).toMatchObject({ id: "u/1" });
  expect(await admin.putConversation(odd, "c/1", { participants: ["u/1", "u/2"] })).toMatchObject({ id: "c/1" });
  expect(await admin.getConversation(odd, "c/1")).toMatchObject({ id: "c/1" });
  expect((await admin.listConversations(odd)).items.map(({ id }) => id)).toEqual(["c/1"]);
  await admin.addParticipant(odd, "c/1", "u/1");
  await admin.removeParticipant(odd, "c/1", "u/2");
  expect((await admin.listParticipants(odd, "c/1")).items.map(({ id }) => id)).toEqual(["u/1"]);
  const users = await admin.listUsers(odd, { limit: 1 });
  expect(users.items.map(({ id }) => id)).toEqual(["u/1"]);
  expect((await admin.listUsers(odd, { cursor: users.cursor ?? "none" })).items.map(({ id }) => id)).toEqual(["u/2"]);
  const envelope = { organizationId: odd, senderId: "u/1", message: { id: "m", cid: "c/1", body: "hi" } };
  const { ask } = await admin.sendMessage(envelope);
  expect(await admin.sendMessage(envelope)).toEqual({ ask });
  expect((await admin.listMessages(odd, "c/1", { limit: 5 })).items).toMatchObject([
    { _id: ask.server_mid, body: "hi" },
  ]);
  const answers: BatchAnswer[] = [];
  for await (const answer of admin.sendBatch([envelope, { ...envelope, senderId: "none" }])) answers.push(answer);
  expect(answers).toMatchObject([
    { line: 1, status: 201, ask, replayed: true },
    { line: 2, status: 403, problem: { code: "sender_not_participant" } },
  ]);
  const report = await admin.getMessage(odd, ask.server_mid);
  expect(report).toMatchObject({ message: { body: "hi" }, key_id: "bootstrap", delivery: { recipients: 1 } });
  expect(await admin.tryMessage(envelope)).toEqual({ dry_run: { recipients: 1, online: 0, unknown_users: [] } });
  const system = { organizationId: odd, senderId: "u/1", messageSystem: { id: "s/1", uids: ["u/1", "u/9"] } };
  expect((await admin.trySystemMessage(system)).dry_run.unknown_users).toEqual(["u/9"]);
  await admin.sendSystemMessage(system);
  const order = { send_at: new Date(Date.now() + 3_600_000).toISOString(), request: envelope };
  expect(await admin.trySchedule(odd, "l/1", order)).toMatchObject({ dry_run: { recipients: 1 } });
  const scheduled = await admin.schedule(odd, "l/1", order);
  expect(scheduled).toMatchObject({ id: "l/1", state: "waiting", send_at: order.send_at, problem: null });
  expect(await admin.schedule(odd, "l/1", order)).toEqual(scheduled);
  expect((await admin.listScheduled(odd, { state: "waiting", limit: 5 })).items).toEqual([scheduled]);
  await admin.cancelScheduled(odd, "l/1");
  expect(await admin.getScheduled(odd, "l/1")).toMatchObject({ state: "cancelled", request: null });
  const { key } = await admin.createKey({ name: "agent", scopes: ["message:propose"] });
  const agent = createAdmin({ url: server.url, key });
  const proposed = await agent.propose(odd, "p/1", { request: { ...envelope, message: { cid: "c/1", body: "?" } } });
  expect(proposed).toMatchObject({ id: "p/1", state: "waiting", reason: null });
  expect(await admin.getProposal(odd, "p/1")).toEqual(proposed);
  expect((await agent.listProposals(odd, { state: "waiting", limit: 5 })).items).toEqual([proposed]);
  expect(await admin.approveProposal(odd, "p/1", { reason: "yes" })).toMatchObject({ state: "approved" });
  await agent.propose(odd, "p/2", { request: envelope, reason: "again" });
  expect(await admin.rejectProposal(odd, "p/2")).toMatchObject({ state: "rejected", reason: "again" });
  for (const options of [{}, { senderId: "u/1" }]) {
    const { delivery } = await admin.getSystemMessage(odd, "s/1", options);
    expect(delivery.by_user).toEqual({ "u/1": "offline", "u/9": "unknown" });
  }
  const missing = { state: "missing" as const, delivered_at: null, acknowledged_at: null };
  expect(await admin.listRecipients(odd, ask.server_mid)).toEqual({
    items: [{ uid: "u/1", ...missing }],
    cursor: null,
  });
  expect(await Array.fromAsync(admin.recipients(odd, ask.server_mid, { state: "delivered" }))).toEqual([]);
  const page = await admin.listSystemRecipients(odd, "s/1", { limit: 1, state: "missing", senderId: "u/1" });
  expect([page.items, page.cursor]).toEqual([[{ uid: "u/1", ...missing }], expect.any(String)]);
  const all = await Array.fromAsync(admin.systemRecipients(odd, "s/1", { senderId: "u/1" }));
  expect(all.map(({ uid }) => uid)).toEqual(["u/1", "u/9"]);
  const toAll = { organizationId: odd, senderId: "u/1", messageSystem: { id: "s/2", everyone: true } } as const;
  expect((await admin.trySystemMessage(toAll)).dry_run.recipients).toBe(2);
  await admin.sendSystemMessage(toAll);
  await admin.sendSystemMessage({ ...toAll, messageSystem: { id: "s/3", cid: "c/1" } });
  const reports = [await admin.getSystemMessage(odd, "s/2"), await admin.getSystemMessage(odd, "s/3")];
  expect(reports.map(({ system_message: { cid }, delivery }) => [cid, delivery.recipients, delivery.by_user])).toEqual([
    [undefined, 2, undefined],
    ["c/1", 1, undefined],
  ]);
  expect(await admin.createToken(odd, "u/1", { ttl_seconds: 5 })).toMatchObject({ token: expect.any(String) });
  expect(await admin.listOnline(odd, { limit: 1 })).toEqual({ items: [], cursor: null });
  expect((await admin.listOnline(odd, { uids: ["u,1", "u/1"] })).items).toEqual([
    { id: "u,1", connections: 0 },
    { id: "u/1", connections: 0 },
  ]);
  expect(await admin.countOnline(odd, { uids: ["u/1"] })).toEqual({ count: 0, connections: 0 });
  expect(await admin.countOnline(odd)).toEqual({ count: 0, connections: 0 });
  expect((await admin.listNodes()).items).toMatchObject([{ url: server.url, state: "live" }]);
  await admin.endSessions(odd, "u/1");
  await admin.deleteUser(odd, "u/2");
  await admin.deleteConversation(odd, "c/1");
  await admin.deleteOrganization(odd);
  await expect(admin.getOrganization(odd)).rejects.toMatchObject({ status: 404, code: "organization_not_found" });
  const empty = await admin.sendMessage({ ...envelope, message: { cid: "" } }).catch((error: unknown) => error);
  expect(empty).toMatchObject({ status: 422, code: "invalid_request", requestId: expect.any(String) });
  expect(empty instanceof HeraldApiError && empty.errors.map(({ pointer }) => pointer)).toContain("/message/cid");
});

test("the admin client makes, finds, rotates and revokes keys", async () => {
  await using server = await startServer({});
  const admin = await connectAdmin(server);
  const { key, ...made } = await admin.createKey({ name: "n", scopes: ["directory:read"], allowed_senders: ["a"] });
  expect((await admin.listKeys({ limit: 1 })).items).toEqual([made]);
  expect(await admin.getKey(made.id)).toEqual(made);
  const rotated = await admin.rotateKey(made.id, { overlap_seconds: 0 });
  const withKey = (value: string) => createAdmin({ url: server.url, key: value }).listOrganizations();
  await expect(withKey(key)).rejects.toMatchObject({ status: 401 });
  expect(await withKey(rotated.key)).toEqual({ items: [], cursor: null });
  await admin.revokeKey(made.id);
  await expect(withKey(rotated.key)).rejects.toMatchObject({ status: 401 });
});

test("the client connects, pages, and hears what is sent", async () => {
  await using server = await startServer();
  const admin = await connectAdmin(server);
  const connected = Promise.withResolvers<void>();
  const heard = Promise.withResolvers<Message>();
  const client = createClient({
    url: server.url,
    token: async () => (await admin.createToken("demo", "bob")).token,
    onMessage: heard.resolve,
    onSystemMessage: () => undefined,
    onStateChange: (state) => state === "connected" && connected.resolve(),
  });
  try {
    client.start();
    await connected.promise;
    await client.ping();
    expect((await client.listConversations({ limit: 5 })).conversations).toMatchObject([{ _id: "welcome" }]);
    const envelope = {
      organizationId: "demo",
      senderId: "alice",
      message: { cid: "welcome", body: "hi", x: { a: [1] } },
    };
    const { ask } = await admin.sendMessage(envelope);
    const message = await heard.promise;
    expect(message).toMatchObject({
      _id: ask.server_mid,
      t: ask.t,
      from: "alice",
      cid: "welcome",
      body: "hi",
      x: { a: [1] },
    });
    expect(client.since).toBe(ask.server_mid);
    expect(await client.listMessages({ cid: "welcome", limit: 1 })).toEqual([
      { ...message, updated_at: message?.created_at },
    ]);
    await expect(client.listMessages({ cid: "elsewhere" })).rejects.toMatchObject({ name: "HeraldRequestError" });
  } finally {
    client.stop();
  }
});
