import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { request } from "node:http";
import { expectProblem, ISO_MILLISECONDS } from "../../harness/reading/expectations.ts";
import { startHerald, useHerald } from "../../harness/servers/herald.ts";
import { type ApiKey, type ApiKeyWithSecret, callWith, createKey } from "../../harness/servers/keys.ts";
import { createOrganization, readList } from "../../harness/servers/organization.ts";

const herald = useHerald();
const FORM = /^hk_([0-9a-f-]{36})_[0-9A-Za-z]{38}$/;
const day = 24 * 3600 * 1000;

const get = (id: string) => herald().admin<ApiKey>("GET", `/admin/keys/${id}`);
const rotate = <T = ApiKeyWithSecret>(id: string, body?: unknown) =>
  herald().admin<T>("POST", `/admin/keys/${id}/rotate`, body);
const use = (key: string) => callWith(herald(), key, "GET", "/admin/organizations");

describe("POST /admin/keys/{id}/rotate", () => {
  test("creates a new secret; the old one works for another 24 hours, and every response to it says until when", async () => {
    const made = await createKey(herald());
    const { key: old, id } = made;
    const at = Date.now();
    const rotated = await rotate(id);
    expect(rotated.status).toBe(200);
    const { key: fresh, old_secret_expires_at: end } = rotated.body;
    expect(rotated.body).toEqual({ ...made, key: fresh, old_secret_expires_at: end });
    expect([FORM.exec(fresh)?.[1], fresh === old]).toEqual([id, false]);
    expect(Math.abs(Date.parse(end ?? "") - at - day)).toBeLessThan(60_000);
    const answers = await Promise.all([
      use(old),
      callWith(herald(), old, "GET", "/admin/organizations/nowhere"),
      callWith(herald(), old, "POST", "/admin/message", {}),
      callWith(herald(), old, "PUT", `/admin/organizations/of-${id}`),
      callWith(herald(), old, "DELETE", `/admin/organizations/of-${id}-too`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 422, 201, 404]);
    for (const { headers } of answers) expect(headers.get("herald-key-expires")).toBe(end);
    expect((await use(fresh)).headers.get("herald-key-expires")).toBeNull();
    expect((await get(id)).body.old_secret_expires_at).toBe(end);
  });

  test("ends the old secret at once if asked for no overlap", async () => {
    const { key: old, id } = await createKey(herald());
    const { body } = await rotate(id, { overlap_seconds: 0 });
    expectProblem(await use(old), 401, "unauthorized");
    expect((await use(body.key)).status).toBe(200);
    expect(body.old_secret_expires_at).toBeNull();
  });

  test("accepts up to 7 days, in whole seconds", async () => {
    const { id } = await createKey(herald());
    const { body } = await rotate(id, { overlap_seconds: 604_800 });
    expect(Math.abs(Date.parse(body.old_secret_expires_at ?? "") - Date.now() - 7 * day)).toBeLessThan(60_000);
    for (const overlap of [604_801, -1, 1.5, "60", null])
      expectProblem(await rotate<never>(id, { overlap_seconds: overlap }), 422, "invalid_request", "/overlap_seconds");
  });
});

describe("DELETE /admin/keys/{id}", () => {
  test("revokes a key at once, with all its secrets; a second time it is not found", async () => {
    const { key: old, id } = await createKey(herald());
    const { key: fresh } = (await rotate(id)).body;
    const answer = await herald().admin("DELETE", `/admin/keys/${id}`);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    for (const key of [old, fresh]) expectProblem(await use(key), 401, "unauthorized");
    expectProblem(await herald().admin("DELETE", `/admin/keys/${id}`), 404, "not_found");
    expectProblem(await herald().admin("GET", `/admin/keys/${id}`), 404, "not_found");
    expect((await readList<ApiKey>(herald(), "/admin/keys")).map((key) => key.id)).not.toContain(id);
  });

  test("lets a running call finish", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const { key, id } = await createKey(herald());
    const body = JSON.stringify({ organizationId: org.id, senderId: "alice", message: { cid, body: "begun before" } });
    const headers = { "Admin-Api-Key": key, "Content-Type": "application/json", "Content-Length": body.length };
    const status = Promise.withResolvers<number | undefined>();
    const call = request(`${herald().url}/admin/message`, { method: "POST", headers }, (response) => {
      response.resume();
      status.resolve(response.statusCode);
    });
    call.on("error", status.reject);
    await new Promise((resolve) => call.write(body.slice(0, 10), resolve));
    await use(key); // answered after the server has seen the call that began before
    expect((await herald().admin("DELETE", `/admin/keys/${id}`)).status).toBe(204);
    expectProblem(await use(key), 401, "unauthorized");
    call.end(body.slice(10));
    expect(await status.promise).toBe(201);
  });
});

describe("API keys", () => {
  test("survive a restart, with their last use; revoked ones stay revoked", async () => {
    await using first = await startHerald({ dataDir: `${herald().dataDir}/restart` });
    const [kept, gone] = [await createKey(first), await createKey(first)];
    expect((await callWith(first, kept.key, "GET", "/admin/organizations")).status).toBe(200);
    await first.admin("DELETE", `/admin/keys/${gone.id}`);
    await first.stop();
    await using second = await startHerald({ dataDir: `${herald().dataDir}/restart` });
    const { body } = await second.admin<ApiKey>("GET", `/admin/keys/${kept.id}`);
    expect(body.last_used_at).toMatch(ISO_MILLISECONDS);
    expect((await callWith(second, kept.key, "GET", "/admin/organizations")).status).toBe(200);
    expectProblem(await callWith(second, gone.key, "GET", "/admin/organizations"), 401, "unauthorized");
    await second.stop();
  });

  test("are stored as digests only: no file of the data folder contains a secret", async () => {
    await using server = await startHerald({ dataDir: `${herald().dataDir}/secrets` });
    const { key } = await createKey(server);
    await callWith(server, key, "GET", "/admin/organizations");
    await server.stop();
    const files = [...new Bun.Glob("**").scanSync({ cwd: server.dataDir, dot: true, absolute: true })];
    expect(files.map((file) => file.split("/").at(-1))).toEqual(expect.arrayContaining(["herald.db", "key-secret"]));
    for (const file of files) expect(await Bun.file(file).text()).not.toContain(key.slice(-38, -6));
  });

  test("are stored with what was sent with them, and shown to no recipient", async () => {
    await using server = await startHerald({ dataDir: `${herald().dataDir}/provenance` });
    const org = await createOrganization(server);
    const cid = await org.conversation(["alice", "bob"]);
    using bob = await org.socket("bob");
    const { key, id } = await createKey(server);
    const envelope = { organizationId: org.id, senderId: "alice" };
    const sends = [
      await callWith(server, key, "POST", "/admin/message", { ...envelope, message: { cid, body: "x" } }),
      await callWith(server, key, "POST", "/admin/message/system", { ...envelope, messageSystem: { uids: ["bob"] } }),
      await org.send<unknown>("alice", { cid, body: "by the bootstrap key" }),
    ];
    const heard = [await bob.next(), await bob.next(), await bob.next()];
    for (const text of [JSON.stringify(heard), ...sends.map((answer) => answer.text)]) expect(text).not.toContain(id);
    await server.stop();
    const database = new Database(`${server.dataDir}/herald.db`, { readonly: true });
    const rows = database.query(`SELECT kind, key_id FROM event WHERE kind IN ('message', 'system') ORDER BY "offset"`);
    expect(rows.values()).toEqual([
      ["message", id],
      ["system", id],
      ["message", "bootstrap"],
    ]);
    database.close();
  });
});
