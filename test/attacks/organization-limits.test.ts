import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startHerald, useHerald } from "../harness/servers/herald.ts";
import { callWith, createKey } from "../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

const herald = useHerald({ oneNode: "an organization's rate is counted by each node" });

const keyCount = 11;
const callsOfKey = 100;
const perSecond = 20;

/** Creates this many keys of an organization, and calls with all of them at once. Returns the responses. */
async function callWithKeys(org: Organization, keys: number, calls: number) {
  const made = await Promise.all(
    Array.from({ length: keys }, () => createKey(herald(), { organization: org.id, scopes: ["directory:read"] })),
  );
  const called = made.flatMap(({ key }) =>
    Array.from({ length: calls }, () => callWith(herald(), key, "GET", org.path())),
  );
  return await Promise.all(called);
}

describe("more keys (row 8)", () => {
  test("are no more requests for their organization, whose limit the 429 names; another organization has its own", async () => {
    const [org, other] = [await createOrganization(herald()), await createOrganization(herald())];
    const limited = await herald().admin("PUT", org.path(), { limits: { requests_per_second: perSecond } });
    expect(limited.status).toBe(200);
    const answers = await callWithKeys(org, keyCount, callsOfKey);
    const refused = answers.filter(({ status }) => status === 429);
    // Two seconds' worth is available at once, less what creating the keys took; the calls take a few seconds at most.
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(answers.length - refused.length);
    expect(answers.length - refused.length).toBeWithin(perSecond, 10 * perSecond);
    expect(refused[0]?.body.detail).toContain("organization");
    expect(refused[0]?.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    const others = await callWithKeys(other, 1, callsOfKey);
    expect(others.map(({ status }) => status).filter((status) => status !== 200)).toEqual([]);
  });
});

/** Creates an organization with a rate of its own, on a node that then stops. Returns a key that may read its files. */
async function leaveOrganization(dataDir: string): Promise<string> {
  await using node = await startHerald({ dataDir });
  const org = await createOrganization(node);
  await node.admin("PUT", org.path(), { limits: { requests_per_second: perSecond } });
  return (await createKey(node, { organization: org.id, scopes: ["history:read"] })).key;
}

describe("requests for files", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "herald-files-"));
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  test("count toward their organization, also on a node that has not met it yet", async () => {
    const headers = { "Admin-Api-Key": await leaveOrganization(dataDir) };
    await using node = await startHerald({ dataDir });
    const ask = async () => (await node.http("GET", "/files/nothing", { headers })).status;
    const statuses = await Promise.all(Array.from({ length: 10 * perSecond }, ask));
    expect(statuses.filter((status) => status === 404).length).toBeWithin(perSecond, 10 * perSecond);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
  });
});
