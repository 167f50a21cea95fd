import { describe, expect, test } from "bun:test";
import type { UserConnectionList } from "../../../src/contract/presence.ts";
import { expectClosed, openSocket } from "../../harness/clients/socket.ts";
import { eventually } from "../../harness/deadline.ts";
import { expectProblem, ISO_MILLISECONDS } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { callWith, createKey } from "../../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald();

const listOf = (org: Organization, uid: string) =>
  herald().admin<UserConnectionList>("GET", org.path("users", uid, "connections"));
const close = (org: Organization, uid: string, id: string) =>
  herald().admin<unknown>("DELETE", org.path("users", uid, "connections", id));

describe("the connections of a user", () => {
  test("are listed, the oldest first, with where they come from", async () => {
    const org = await createOrganization(herald());
    const before = Date.now();
    using _phone = await org.socket("alice", { device_id: "phone" });
    using _stream = await org.sse("alice");
    using _other = await org.socket("bob");
    const { body } = await listOf(org, "alice");
    const nodes = await herald().admin<{ items: { id: string }[] }>("GET", "/admin/nodes");
    const [phone, stream] = body.items;
    expect(body.items).toHaveLength(2);
    const shared = { address: "127.0.0.1", waiting_bytes: 0 };
    expect(phone).toMatchObject({ ...shared, transport: "websocket", device_id: "phone", client: null });
    expect(stream).toMatchObject({ ...shared, transport: "sse", device_id: null, client: navigator.userAgent });
    const ids = nodes.body.items.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(body.items.map(({ node }) => node)));
    const opened = body.items.map(({ since }) => Date.parse(since));
    expect(opened).toEqual(opened.toSorted());
    expect(opened[0]).toBeGreaterThanOrEqual(before);
    expect(opened[1]).toBeLessThanOrEqual(Date.now());
  });

  test("are none of a user who is offline; of an unknown one there is no list", async () => {
    const org = await createOrganization(herald());
    await org.user("offline");
    expect((await listOf(org, "offline")).body).toEqual({ items: [], last_ended: null, last_refused: null });
    expectProblem(await listOf(org, "nobody"), 404, "user_not_found");
    expectProblem(await close(org, "nobody", "1"), 404, "user_not_found");
  });

  test("that have ended leave their time and close code, and so does a token that was refused", async () => {
    const org = await createOrganization(herald());
    using phone = await org.socket("alice");
    const token = await org.token("alice");
    const [{ connection_id: id = "" } = {}] = (await listOf(org, "alice")).body.items;
    expect((await close(org, "alice", id)).status).toBe(204);
    await expectClosed(phone, 1012);
    const told = await eventually(async () => {
      const { body } = await listOf(org, "alice");
      return body.items.length === 0 && body.last_ended !== null ? body : undefined;
    }, "the end of the connection");
    const at = expect.stringMatching(ISO_MILLISECONDS);
    expect(told).toEqual({ items: [], last_ended: { at, code: 1012 }, last_refused: null });
    await herald().admin("PUT", org.path("users", "alice"), { blocked: true });
    using refused = await openSocket(herald().url, { headers: { Authorization: `Bearer ${token}` } });
    await expectClosed(refused, 4403);
    expect((await listOf(org, "alice")).body.last_refused).toEqual({ at, check: "blocked" });
  });

  test("are closed one by one, so that the client comes back with what it missed", async () => {
    const org = await createOrganization(herald());
    using phone = await org.socket("alice", { device_id: "phone" });
    using laptop = await org.socket("alice", { device_id: "laptop" });
    using stream = await org.sse("alice");
    const items = (await listOf(org, "alice")).body.items;
    const idOf = (device: string | null) => items.find(({ device_id }) => device_id === device)?.connection_id ?? "";
    expectProblem(await close(org, "bob", idOf("phone")), 404, "user_not_found");
    await org.user("bob");
    expectProblem(await close(org, "bob", idOf("phone")), 404, "not_found");
    expect((await close(org, "alice", idOf("phone"))).status).toBe(204);
    await expectClosed(phone, 1012);
    const query = `organization=${encodeURIComponent(org.id)}&operation=closeConnection&result=done`;
    const { items: entries } = (await herald().admin<{ items: { target: object }[] }>("GET", `/admin/audit?${query}`))
      .body;
    expect(entries.map(({ target }) => target)).toEqual([
      { organization: org.id, user: "alice", connection: idOf("phone") },
    ]);
    expect((await close(org, "alice", idOf(null))).status).toBe(204);
    await stream.closed;
    await eventually(async () => (await listOf(org, "alice")).body.items.length === 1 || undefined, "one is left");
    expectProblem(await close(org, "alice", idOf("phone")), 404, "not_found");
    await org.expectNothingElse(laptop);
  });

  test("are listed by a key that observes, and closed by one that changes users", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    const id = (await listOf(org, "alice")).body.items[0]?.connection_id ?? "";
    const path = org.path("users", "alice", "connections");
    const [{ key: observes }, { key: writes }] = await Promise.all([
      createKey(herald(), { scopes: ["observe"] }),
      createKey(herald(), { scopes: ["directory:write"] }),
    ]);
    expectProblem(await callWith(herald(), writes, "GET", path), 403, "insufficient_scope");
    expectProblem(await callWith(herald(), observes, "DELETE", `${path}/${id}`), 403, "insufficient_scope");
    expect((await callWith(herald(), observes, "GET", path)).status).toBe(200);
    expect((await callWith(herald(), writes, "DELETE", `${path}/${id}`)).status).toBe(204);
    await expectClosed(alice, 1012);
  });
});
