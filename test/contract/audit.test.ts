import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { createApiKey } from "../../src/contract/keys/api-key.ts";
import { defaultPayloadLimits } from "../../src/contract/limits.ts";
import { createOperations } from "../../src/contract/operations/all.ts";
import type { Operation } from "../../src/contract/operations/operation.ts";
import type { Page } from "../harness/clients/wire.ts";
import { eventually } from "../harness/deadline.ts";
import { uniqueId } from "../harness/random.ts";
import { expectProblem, ISO_MILLISECONDS, UUID_V7 } from "../harness/reading/expectations.ts";
import { startHerald, useHerald } from "../harness/servers/herald.ts";
import { callWith, createKey } from "../harness/servers/keys.ts";
import { createOrganization, readList } from "../harness/servers/organization.ts";

const herald = useHerald();

/** An entry of the audit log as described in `docs/`, transcribed. */
type Entry = {
  id: string;
  created_at: string;
  operation: string;
  organization: string | null;
  key_id: string | null;
  person: string | null;
  address: string | null;
  target: Record<string, string>;
  result: string;
  status: number;
  code: string | null;
  request_id: string;
  omitted: number;
};

const queryOf = (filter: Record<string, string | number>) =>
  Object.entries(filter)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");

async function audit(filter: Record<string, string | number> = {}): Promise<Entry[]> {
  const answer = await herald().admin<Page<Entry>>("GET", `/admin/audit?limit=1000&${queryOf(filter)}`);
  expect(`${answer.status} ${answer.text}`).toStartWith("200 ");
  return answer.body.items;
}

/** The matching entries, once there are `count`: those of refusals are written after the response. */
function auditOf(filter: Record<string, string | number>, count: number): Promise<Entry[]> {
  return eventually(
    async () => {
      const entries = await audit(filter);
      return entries.length >= count ? entries : undefined;
    },
    `${count} entries of ${JSON.stringify(filter)}`,
  );
}

const brief = ({ operation, target, result, status, code }: Entry) => ({ operation, target, result, status, code });

describe("the audit log", () => {
  test("is read on after an entry, oldest first, in pages, without what comes before it", async () => {
    const org = uniqueId("org");
    const path = `/admin/organizations/${encodeURIComponent(org)}`;
    await herald().admin("PUT", path, {});
    const [begun] = await auditOf({ organization: org }, 1);
    for (const uid of ["a", "b", "c"]) await herald().admin("PUT", `${path}/users/${uid}`, {});
    const after = begun?.id ?? "";
    const users = ({ target }: Entry) => target.user;
    const all = await eventually(async () => {
      const entries = await audit({ organization: org, after });
      return entries.length === 3 ? entries : undefined;
    }, "the entries after the first");
    expect(all.map(users)).toEqual(["a", "b", "c"]);
    expect((await audit({ organization: org, after: all[1]?.id ?? "" })).map(users)).toEqual(["c"]);
    const page = await herald().admin<Page<Entry>>(
      "GET",
      `/admin/audit?limit=2&${queryOf({ organization: org, after })}`,
    );
    expect(page.body.items.map(users)).toEqual(["a", "b"]);
    const next = queryOf({ organization: org, cursor: page.body.cursor ?? "" });
    const rest = await herald().admin<Page<Entry>>("GET", `/admin/audit?limit=2&${next}`);
    expect([rest.body.items.map(users), rest.body.cursor]).toEqual([["c"], null]);
    const refused = await herald().admin("GET", "/admin/audit?after=nonsense");
    expectProblem(refused, 422, "invalid_request", "/after");
    const old = await herald().admin("GET", "/admin/audit?after=01000000-0000-7000-8000-000000000000");
    expectProblem(old, 410, "cursor_too_old");
  });

  test("records every change before it is answered: who, what, about whom, how it ended, in which request", async () => {
    const org = uniqueId("org");
    const path = `/admin/organizations/${encodeURIComponent(org)}`;
    const headers = { "X-Request-Id": uniqueId("request") };
    const changes: [method: string, path: string, body: unknown, operation: string, target: Record<string, string>][] =
      [
        ["PUT", path, { name: "A name" }, "putOrganization", {}],
        ["PUT", `${path}/users/u1`, {}, "putUser", { user: "u1" }],
        ["POST", `${path}/users/u1/tokens`, {}, "createToken", { user: "u1" }],
        ["DELETE", `${path}/users/u1/tokens/t1`, undefined, "revokeToken", { user: "u1", token: "t1" }],
        ["DELETE", `${path}/users/u1/sessions`, undefined, "deleteSessions", { user: "u1" }],
        ["PUT", `${path}/conversations/c1`, { participants: ["u1"] }, "putConversation", { conversation: "c1" }],
        [
          "PUT",
          `${path}/conversations/c1/participants/u2`,
          undefined,
          "putParticipant",
          { conversation: "c1", user: "u2" },
        ],
        ["GET", `${path}/conversations/c1/messages`, undefined, "listMessages", { conversation: "c1" }],
        [
          "DELETE",
          `${path}/conversations/c1/participants/u2`,
          undefined,
          "deleteParticipant",
          { conversation: "c1", user: "u2" },
        ],
        ["DELETE", `${path}/conversations/c1`, undefined, "deleteConversation", { conversation: "c1" }],
        ["DELETE", `${path}/users/u1`, undefined, "deleteUser", { user: "u1" }],
        ["DELETE", path, undefined, "deleteOrganization", {}],
      ];
    for (const [method, target, body, operation, ids] of changes) {
      const before = Date.now();
      const { status, headers: answered } = await herald().admin(method, target, body, headers);
      expect({ operation, isDone: status < 300 }).toEqual({ operation, isDone: true });
      const [entry] = await audit({ organization: org });
      expect(entry).toEqual({
        id: expect.stringMatching(UUID_V7),
        created_at: expect.stringMatching(ISO_MILLISECONDS),
        operation,
        organization: org,
        key_id: "bootstrap",
        person: null,
        address: expect.stringMatching(/^(::ffff:)?127\.0\.0\.1$/),
        target: { organization: org, ...ids },
        result: "done",
        status,
        code: null,
        request_id: answered.get("x-request-id") ?? "",
        omitted: 0,
      });
      expect(Math.abs(Date.parse(entry?.created_at ?? "") - before)).toBeLessThan(60_000);
    }
    expect(await audit({ organization: org })).toHaveLength(changes.length);
  });

  test("records changes of keys, in the log of their organization", async () => {
    const org = await createOrganization(herald());
    const key = await createKey(herald(), { organization: org.id });
    await herald().admin("POST", `/admin/keys/${key.id}/rotate`);
    await herald().admin("DELETE", `/admin/keys/${key.id}`);
    const target = { organization: org.id, key: key.id };
    const entries = (await audit({ organization: org.id })).filter(({ operation }) => /Key/.test(operation));
    expect(entries.map(brief)).toEqual([
      { operation: "deleteKey", target, result: "done", status: 204, code: null },
      { operation: "rotateKey", target, result: "done", status: 200, code: null },
      { operation: "createKey", target, result: "done", status: 201, code: null },
    ]);
  });

  test("does not record reads of the directory, sends, or reads of itself", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const count = (await audit({ organization: org.id })).length;
    await org.sent("alice", { cid, body: "x" });
    await org.sentSystem("alice", { uids: ["bob"] });
    await org.send("nobody", { cid: "nowhere", body: "x" });
    await org.send("stranger", { cid, body: "x" });
    await herald().admin("GET", org.path());
    await herald().admin("PUT", org.path("users", "\u0007"), {});
    await herald().admin("PUT", org.path("users", "u"), { unknown: 1 });
    await org.user("the last");
    expect((await audit({ organization: org.id })).map(brief)).toHaveLength(count + 1);
  });

  test("records failed attempts as such", async () => {
    const org = await createOrganization(herald());
    await herald().admin("DELETE", org.path("users", "nobody"));
    const [entry] = await auditOf({ organization: org.id, result: "refused" }, 1);
    const target = { organization: org.id, user: "nobody" };
    expect(entry && brief(entry)).toEqual({
      operation: "deleteUser",
      target,
      result: "refused",
      status: 404,
      code: "user_not_found",
    });
  });

  test("records refusals for lack of rights: of every operation, with the key, for its organization only", async () => {
    const [own, other] = [await createOrganization(herald()), await createOrganization(herald())];
    const key = await createKey(herald(), {
      organization: own.id,
      scopes: ["message:send"],
      allowed_senders: ["alice"],
    });
    const { key: weak, id: weakId } = await createKey(herald(), { scopes: ["observe"] });
    await callWith(herald(), key.key, "DELETE", other.path("users", "u1"));
    await callWith(herald(), key.key, "GET", own.path("users", "u1"));
    const send = { senderId: "bob", message: { cid: "c1", body: "x" } };
    await callWith(herald(), key.key, "POST", "/admin/message", { organizationId: own.id, ...send });
    await callWith(herald(), key.key, "POST", "/admin/message", { organizationId: other.id, ...send });
    await callWith(herald(), weak, "DELETE", own.path());
    const refusals = await auditOf({ organization: own.id, result: "refused", status: 403 }, 5);
    const shown = refusals.map(({ key_id, operation, code, target }) => [key_id, operation, code, target]);
    const user = { user: "u1" };
    const sent = { sender: "bob", conversation: "c1" };
    expect(shown).toHaveLength(5);
    expect(shown).toEqual(
      expect.arrayContaining([
        [weakId, "deleteOrganization", "insufficient_scope", { organization: own.id }],
        [key.id, "sendMessage", "organization_forbidden", { organization: other.id, ...sent }],
        [key.id, "sendMessage", "sender_forbidden", { organization: own.id, ...sent }],
        [key.id, "getUser", "insufficient_scope", { organization: own.id, ...user }],
        [key.id, "deleteUser", "insufficient_scope", { organization: other.id, ...user }],
      ]),
    );
    expect(await audit({ organization: other.id, status: 403 })).toEqual([]);
  });

  test("records calls with a refused key: without a key, whatever key they name, and without an organization", async () => {
    const org = await createOrganization(herald());
    const { id: claimed } = await createKey(herald(), { organization: org.id });
    const stolen = createApiKey(claimed).key;
    const claimId = uniqueId("claimed");
    await herald().admin("DELETE", org.path("users", "u1"), undefined, {
      "Admin-Api-Key": stolen,
      "X-Request-Id": claimId,
    });
    const refused = await eventually(
      async () => (await audit({ status: 401 })).find(({ request_id }) => request_id === claimId),
      "the entry of a call with a key that is not valid",
    );
    expect(refused).toMatchObject({ operation: "deleteUser", organization: null, key_id: null, code: "unauthorized" });
    expect(await audit({ key: claimed })).toEqual([]);
    const requestId = uniqueId("no-key");
    await herald().http("GET", org.path(), { headers: { "X-Request-Id": requestId } });
    const missing = await eventually(
      async () => (await audit({ status: 401 })).find(({ request_id }) => request_id === requestId),
      "the entry of a call without a key",
    );
    expect(missing).toMatchObject({ operation: "getOrganization", organization: null, key_id: null });
  });

  test("knows the address of a caller who hung up without waiting for the answer", async () => {
    const requestId = uniqueId("hung-up");
    const { hostname, port } = new URL(herald().url);
    const socket = connect(Number(port), hostname);
    const headers = `Host: ${hostname}\r\nX-Request-Id: ${requestId}\r\nAdmin-Api-Key: ${createApiKey().key}`;
    socket.end(`DELETE /admin/keys/x HTTP/1.1\r\n${headers}\r\n\r\n`, () => socket.destroy());
    const entry = await eventually(
      async () => (await audit({ status: 401 })).find(({ request_id }) => request_id === requestId),
      "the entry of a call whose caller hung up",
    );
    expect(entry).toMatchObject({ address: expect.stringContaining("127.0.0.1") });
  });

  test("can be filtered by organization, key, operation, result, status and time, even combined", async () => {
    const org = await createOrganization(herald());
    const { key, id } = await createKey(herald(), { scopes: ["directory:write"] });
    await callWith(herald(), key, "PUT", org.path("users", "a"));
    await callWith(herald(), key, "DELETE", org.path("users", "b"));
    await org.user("c");
    const [refused] = await auditOf({ key: id, result: "refused" }, 1);
    const operations = async (filter: Record<string, string | number>) =>
      (await audit({ organization: org.id, ...filter })).map(({ operation }) => operation);
    expect(await operations({ key: id })).toEqual(["deleteUser", "putUser"]);
    expect(await operations({ operation: "putUser" })).toEqual(["putUser", "putUser"]);
    expect(await operations({ operation: "putUser", key: id })).toEqual(["putUser"]);
    expect(await operations({ status: 404 })).toEqual(["deleteUser"]);
    expect(await operations({ result: "failed" })).toEqual([]);
    expect(await operations({ since: refused?.created_at ?? "", key: id })).toContain("deleteUser");
    expect(await operations({ until: refused?.created_at ?? "", key: id })).not.toContain("deleteUser");
    expect(await operations({ since: "2999-01-01T00:00:00Z" })).toEqual([]);
    expect(await operations({ until: "2999-01-01T00:00:00+02:00" })).toHaveLength(4);
    for (const [name, value] of [
      ["status", "40"],
      ["result", "ok"],
      ["since", "yesterday"],
      ["cursor", "x"],
      ["who", "me"],
    ] as const)
      expectProblem(await herald().admin("GET", `/admin/audit?${name}=${value}`), 422, "invalid_request", `/${name}`);
  });

  test("pages neither repeat nor miss an entry while others are added", async () => {
    const org = await createOrganization(herald());
    for (let count = 0; count < 7; count++) await org.user(`before-${count}`);
    const expected = await audit({ organization: org.id });
    const read: Entry[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const query: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await herald().admin<Page<Entry>>("GET", `/admin/audit?organization=${org.id}&limit=3${query}`);
      read.push(...body.items);
      cursor = body.cursor;
      await org.user(uniqueId("meanwhile"));
    }
    expect(read).toEqual(expected);
  });

  test("shows a key of one organization only its entries, and none of a predecessor with the same id", async () => {
    const [own, other] = [await createOrganization(herald()), await createOrganization(herald())];
    await own.user("of the first");
    await herald().admin("DELETE", own.path());
    await Bun.sleep(2); // entries are distinguished by the millisecond
    await createOrganization(herald(), own.id);
    await other.user("u");
    const { key } = await createKey(herald(), { organization: own.id, scopes: ["observe"] });
    const list = (query: string) => callWith<Page<Entry>>(herald(), key, "GET", `/admin/audit?${query}`);
    const seen = (await list("limit=1000")).body.items;
    expect(seen.map(({ operation }) => operation)).toEqual(["createKey", "putOrganization"]);
    expect(new Set(seen.map(({ organization }) => organization))).toEqual(new Set([own.id]));
    expect((await list(`organization=${own.id}`)).body.items).toEqual(seen);
    expectProblem(await list(`organization=${other.id}`), 403, "organization_forbidden");
    expect((await list("key=bootstrap")).body.items).toEqual(seen);
    expect((await audit({ organization: own.id })).length).toBeGreaterThan(seen.length);
  });

  test("contains no secret, name or content, wherever a caller put one", async () => {
    const org = await createOrganization(herald());
    const canary = uniqueId("canary");
    const made = await createKey(herald(), { organization: org.id, name: canary });
    const cid = await org.conversation(["alice", "bob"]);
    await herald().admin("PUT", org.path("users", "alice"), { name: canary });
    await herald().admin("PUT", org.path("conversations", cid), { name: canary });
    await herald().admin("PUT", org.path("users", made.key), {}); // pasted where no key belongs
    await callWith(herald(), made.key, "GET", "/admin/nodes");
    const unknown = await herald().http("GET", org.path(), {
      headers: { "Admin-Api-Key": canary, "X-Request-Id": made.key },
    });
    const requestId = unknown.headers.get("x-request-id"); // a fresh one
    await herald().admin("DELETE", `/admin/keys/${made.key}`);
    const { token } = (await herald().admin<{ token: string }>("POST", org.path("users", "alice", "tokens"))).body;
    const refused = { organizationId: org.id, senderId: "bob", message: { cid, body: canary, x: { canary } } };
    const { key } = await createKey(herald(), { allowed_senders: ["alice"], scopes: ["message:send"] });
    await callWith(herald(), key, "POST", "/admin/message", refused);
    await eventually(
      async () => (await audit({ operation: "sendMessage" })).find(({ target }) => target.conversation === cid),
      "the refused send",
    );
    await eventually(
      async () => (await audit({ operation: "getOrganization" })).find(({ request_id }) => request_id === requestId),
      "the 401",
    );
    const everything = JSON.stringify(await readList(herald(), "/admin/audit"));
    for (const secret of [
      canary,
      made.key,
      made.key.slice(-38),
      key.slice(-38),
      token,
      token.split(".")[2] ?? "",
      herald().key,
    ])
      expect(everything).not.toContain(secret);
  });

  test("is written by every operation that is not declared as a send or a read", () => {
    const operations = Object.values<Operation>(createOperations(defaultPayloadLimits));
    const exceptions = operations.filter(({ audit: extent }) => extent !== undefined);
    expect(Object.fromEntries(exceptions.map(({ operationId, audit: extent }) => [operationId, extent]))).toEqual({
      sendMessage: "refused",
      sendSystemMessage: "refused",
      markRead: "refused",
      tellTyping: "refused",
      listOnlineUsers: "refused",
      listMessages: "all",
      getMessage: "all",
      getScheduled: "all",
      listScheduled: "all",
      getProposal: "all",
      listProposals: "all",
      listWebhookDeliveries: "all",
      getSystemMessage: "all",
      listInbox: "all",
      listDeliveries: "all",
      listRecipients: "all",
      listSystemRecipients: "all",
      exportOrganization: "all",
      exportUser: "all",
      streamEvents: "all",
      updateReactions: "refused",
      appendToMessage: "refused",
    });
  });
});

test("an entry has the client's address as given by a trusted proxy, with an accepted key and a refused one", async () => {
  await using node = await startHerald({ env: { HERALD_TRUSTED_PROXIES: "127.0.0.1" } });
  const forwarded = { "X-Forwarded-For": "198.51.100.1, 203.0.113.9" };
  await node.admin("PUT", "/admin/organizations/o1", {}, forwarded);
  await node.http("PUT", "/admin/organizations/o1", { headers: forwarded });
  const entries = await eventually(async () => {
    const { items } = (await node.admin<Page<Entry>>("GET", "/admin/audit")).body;
    return items.length >= 2 ? items : undefined;
  }, "two entries");
  expect(entries.map(({ status, address }) => `${status} ${address}`).sort()).toEqual([
    "201 203.0.113.9",
    "401 203.0.113.9",
  ]);
});
