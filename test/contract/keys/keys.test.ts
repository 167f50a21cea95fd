import { describe, expect, test } from "bun:test";
import type { Page } from "../../harness/clients/wire.ts";
import { eventually } from "../../harness/deadline.ts";
import { expectProblem, ISO_MILLISECONDS, UUID_V7 } from "../../harness/reading/expectations.ts";
import { startHerald, useHerald } from "../../harness/servers/herald.ts";
import { type ApiKey, type ApiKeyWithSecret, callWith, createKey } from "../../harness/servers/keys.ts";
import { createOrganization, readList } from "../../harness/servers/organization.ts";

const herald = useHerald();
const FORM = /^hk_([0-9a-f-]{36})_[0-9A-Za-z]{38}$/;

const get = (id: string) => herald().admin<ApiKey>("GET", `/admin/keys/${id}`);
const use = (key: string) => callWith(herald(), key, "GET", "/admin/organizations");

describe("GET /admin/self", () => {
  const self = (key: string) => callWith<Record<string, unknown>>(herald(), key, "GET", "/admin/self");

  test("tells any key its identity and rights", async () => {
    const org = await createOrganization(herald());
    const rights = {
      scopes: ["message:send"],
      organization: org.id,
      allowed_senders: ["alice"],
      expires_at: "2099-01-01T00:00:00.000Z",
    };
    const { id, key } = await createKey(herald(), { name: "parcels", ...rights });
    expect(await self(key)).toMatchObject({ status: 200, body: { id, name: "parcels", ...rights } });
    expect((await self(key)).text).not.toContain(key);
  });

  test("tells the bootstrap key that it has no id", async () => {
    const { body } = await self(herald().key);
    const nothing = { organization: null, allowed_senders: null, expires_at: null };
    const shown = { id: null, key_id: "bootstrap", name: "bootstrap", scopes: ["*"] };
    expect(body).toEqual({ ...shown, ...nothing, organizations: null, session_id: null });
  });

  test("shows, for the old secret of a rotated key, the expiry of that secret", async () => {
    const { id, key } = await createKey(herald());
    const rotated = await herald().admin<ApiKey>("POST", `/admin/keys/${id}/rotate`, { overlap_seconds: 600 });
    // Another node may know the key as it was before, for a second.
    const shown = await eventually(async () => {
      const { body } = await self(key);
      return body.expires_at === null ? undefined : body;
    }, "the expiry of the old secret");
    expect(shown).toMatchObject({ id, expires_at: rotated.body.old_secret_expires_at });
  });

  test("is refused without a valid key", async () => {
    expectProblem(await callWith(herald(), "no key", "GET", "/admin/self"), 401, "unauthorized");
  });
});

describe("POST /admin/keys", () => {
  test("creates a key, and shows its secret only once", async () => {
    const org = await createOrganization(herald());
    const wanted = {
      name: "parcel tracking 📦",
      scopes: ["message:send", "history:read"],
      organization: org.id,
      allowed_senders: ["alice", "bob"],
      cidrs: ["127.0.0.0/8", "2001:db8::/32"],
      expires_at: "2099-01-01T01:00:00+01:00",
    };
    const made = await herald().admin<ApiKeyWithSecret>("POST", "/admin/keys", wanted);
    expect(made.status).toBe(201);
    const { key, ...shown } = made.body;
    expect(shown).toEqual({
      ...wanted,
      id: expect.stringMatching(UUID_V7),
      expires_at: "2099-01-01T00:00:00.000Z",
      created_at: expect.stringMatching(ISO_MILLISECONDS),
      last_used_at: null,
      old_secret_expires_at: null,
    });
    expect(FORM.exec(key)?.[1]).toBe(shown.id);
    expect((await get(shown.id)).body).toEqual(shown);
    expect((await readList<ApiKey>(herald(), "/admin/keys")).find(({ id }) => id === shown.id)).toEqual(shown);
    expect(herald().logs()).not.toContain(key);
  });

  test("restricts nothing that is omitted or null", async () => {
    const made = await createKey(herald(), {
      organization: null,
      allowed_senders: null,
      cidrs: null,
      expires_at: null,
    });
    const nothing = { organization: null, allowed_senders: null, cidrs: null, expires_at: null };
    expect(made).toMatchObject(nothing);
    expect(await createKey(herald())).toMatchObject(nothing);
    expect((await use(made.key)).status).toBe(200);
  });

  test.each([
    ["/name", { name: "" }],
    ["/name", { name: "x".repeat(257) }],
    ["/name", { name: undefined }],
    ["/scopes", { scopes: [] }],
    ["/scopes", { scopes: undefined }],
    ["/scopes", { scopes: ["observe", "observe"] }],
    ["/scopes/0", { scopes: ["messages:send"] }],
    ["/organization", { organization: "" }],
    ["/allowed_senders", { allowed_senders: [] }],
    ["/allowed_senders", { allowed_senders: ["a", "a"] }],
    ["/allowed_senders", { allowed_senders: Array.from({ length: 101 }, (_, index) => `u${index}`) }],
    ["/allowed_senders/1", { allowed_senders: ["a", ""] }],
    ["/cidrs", { cidrs: [] }],
    ["/cidrs/0", { cidrs: ["10.0.0.1"] }],
    ["/cidrs/0", { cidrs: ["10.0.0.1/8"] }],
    ["/cidrs/0", { cidrs: ["localhost/8"] }],
    ["/expires_at", { expires_at: "2001-01-01T00:00:00Z" }],
    ["/expires_at", { expires_at: "tomorrow" }],
    ["/expires_at", { expires_at: "2099-01-01T00:00:00" }],
    ["/expires_at", { expires_at: 4_102_444_800 }],
    ["/secret", { secret: "mine" }],
  ])("points at %s in %j", async (pointer, change) => {
    const answer = await herald().admin("POST", "/admin/keys", { name: "n", scopes: ["observe"], ...change });
    expectProblem(answer, 422, "invalid_request", pointer);
  });

  test("for a missing organization answers organization_not_found", async () => {
    const body = { name: "n", scopes: ["observe"], organization: "nowhere" };
    expectProblem(await herald().admin("POST", "/admin/keys", body), 404, "organization_not_found");
  });
});

describe("GET /admin/keys", () => {
  test("lists in pages, oldest first, and never a secret", async () => {
    const made: ApiKeyWithSecret[] = [];
    for (let count = 0; count < 5; count++) made.push(await createKey(herald()));
    const ids = new Set(made.map(({ id }) => id));
    for (const limit of [1, 2, 1_000]) {
      const listed = await readList<ApiKey>(herald(), "/admin/keys", limit);
      expect(listed.map(({ id }) => id).filter((id) => ids.has(id))).toEqual([...ids]);
    }
    const page = await herald().admin<Page<ApiKey>>("GET", "/admin/keys?limit=1000");
    for (const { key } of made) {
      expect(page.text).not.toContain(key.slice(-38));
      expect(page.text).not.toContain(key.slice(-38, -6));
    }
    expectProblem(await herald().admin("GET", "/admin/keys?limit=0"), 422, "invalid_request");
    expectProblem(await herald().admin("GET", "/admin/keys?cursor=x"), 422, "invalid_request");
  });

  test("does not find a missing key, nor the bootstrap key", async () => {
    for (const id of ["nobody", "bootstrap", crypto.randomUUID()]) {
      expectProblem(await herald().admin("GET", `/admin/keys/${id}`), 404, "not_found");
      expectProblem(await herald().admin("DELETE", `/admin/keys/${id}`), 404, "not_found");
    }
    for (const id of ["nobody", crypto.randomUUID()])
      expectProblem(await herald().admin("POST", `/admin/keys/${id}/rotate`, {}), 404, "not_found");
  });
});

describe("API keys", () => {
  test("are refused or accepted by the caller's address", async () => {
    const here = await createKey(herald(), { cidrs: ["127.0.0.0/8", "::1/128"] });
    const elsewhere = await createKey(herald(), { cidrs: ["10.0.0.0/8"] });
    expect((await use(here.key)).status).toBe(200);
    expectProblem(await use(elsewhere.key), 401, "unauthorized");
  });

  test("send under their own rate", async () => {
    await using server = await startHerald({
      env: { HERALD_LIMIT_REQUESTS_PER_SECOND: "1", HERALD_LIMIT_REQUESTS_BURST: "3" },
    });
    const [first, second] = [await createKey(server), await createKey(server)];
    const statuses: number[] = [];
    for (const { key } of [first, first, first, first, first, first, second])
      statuses.push((await callWith(server, key, "GET", "/admin/organizations")).status);
    expect(statuses.slice(0, 3)).toEqual([200, 200, 200]);
    expect(statuses.slice(3, 6)).toContain(429);
    expect(statuses[6]).toBe(200);
    await server.stop();
  });
});
