import { expect, test } from "bun:test";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { callWith, createKey } from "../../harness/servers/keys.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald();

test("the key of a deleted organization neither creates it again nor leaves a key behind, however soon it tries", async () => {
  const org = await createOrganization(herald());
  const { key } = await createKey(herald(), { organization: org.id });
  const create = { name: "successor", scopes: ["*"], organization: org.id };
  expect((await callWith(herald(), key, "PUT", org.path(), { name: "mine" })).status).toBe(200);
  expect((await herald().admin("DELETE", org.path())).status).toBe(204);
  expectProblem(await callWith(herald(), key, "PUT", org.path(), {}), 401, "unauthorized");
  expectProblem(await herald().admin("GET", org.path()), 404, "organization_not_found");

  // Nor does it have anything in a new organization of the same id, which may be somebody else's.
  expect((await herald().admin("PUT", org.path(), {})).status).toBe(201);
  for (const [method, path, body] of [
    ["POST", "/admin/keys", create],
    ["PUT", org.path("users", "mallory"), {}],
    ["PUT", org.path(), { name: "still mine" }],
  ] as const)
    expectProblem(await callWith(herald(), key, method, path, body), 401, "unauthorized");
  const { text } = await herald().admin("GET", "/admin/keys?limit=1000");
  expect(text).not.toContain(org.id);
  expect((await herald().admin<{ name: string | null }>("GET", org.path())).body.name).toBeNull();
});

test("a bound key updates the organization that it belongs to, and creates no other", async () => {
  const org = await createOrganization(herald());
  const { key } = await createKey(herald(), { organization: org.id });
  const renamed = await callWith<{ name: string }>(herald(), key, "PUT", org.path(), { name: "ours" });
  expect([renamed.status, renamed.body.name]).toEqual([200, "ours"]);
  expectProblem(await callWith(herald(), key, "PUT", `${org.path()}-2`, {}), 403, "organization_forbidden");
});
