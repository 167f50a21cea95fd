import { describe, expect, test } from "bun:test";
import { useHerald } from "../harness/servers/herald.ts";
import { callWith, createKey } from "../harness/servers/keys.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const herald = useHerald({
  oneNode: "a node counts the requests that it is sent",
  env: { HERALD_LIMIT_REQUESTS_PER_SECOND: "100", HERALD_LIMIT_REQUESTS_BURST: "200" },
});

const participants = Array.from({ length: 60_000 }, (_, index) => `u${index.toString(36)}`);

describe("large changes and lists of the directory (rows 2 and 5)", () => {
  test("cost what they change: of many at once the first is done, and the rest get 429", async () => {
    const org = await createOrganization(herald());
    const { key } = await createKey(herald(), { organization: org.id, scopes: ["directory:write"] });
    const puts = Array.from({ length: 20 }, (_, index) =>
      callWith(herald(), key, "PUT", org.path("conversations", `large-${index}`), { participants }),
    );
    const answers = await Promise.all(puts);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.length).toBeGreaterThanOrEqual(17); // in a second a sixth of one is paid for
    for (const { status, headers } of refused) {
      expect(status).toBe(429);
      expect(Number(headers.get("Retry-After"))).toBeGreaterThan(0);
    }
    expect(refused.length).toBeLessThan(20);
  });

  test("as do long lists, by their number of entries", async () => {
    const org = await createOrganization(herald());
    await org.conversation(participants.slice(0, 1_000));
    const { key } = await createKey(herald(), { organization: org.id, scopes: ["directory:read"] });
    const statuses: number[] = [];
    for (let count = 0; count < 60; count++)
      statuses.push((await callWith(herald(), key, "GET", `${org.path("users")}?limit=1000`)).status);
    const given = statuses.filter((status) => status === 200);
    expect(given.length).toBeWithin(Math.floor(200 / 11), 60); // more become available over time
    expect(statuses.filter((status) => status !== 200)).toEqual(Array.from({ length: 60 - given.length }, () => 429));
  });
});
