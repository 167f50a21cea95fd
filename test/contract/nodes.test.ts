import { expect, test } from "bun:test";
import packageJson from "../../package.json" with { type: "json" };
import { eventually } from "../harness/deadline.ts";
import { expectProblem, ISO_MILLISECONDS, UUID_V7 } from "../harness/expectations.ts";
import { useHerald } from "../harness/herald.ts";
import { createOrganization } from "../harness/organization.ts";
import type { Node } from "../harness/wire.ts";

const herald = useHerald({
  oneNode: "the list of several is looked at in test/cluster/presence.test.ts",
  env: { HERALD_NODE_NAME: "the only one" },
});

const list = async () => (await herald().admin<{ items: Node[] }>("GET", "/admin/nodes")).body.items;

test("a node alone is listed with what it is and does, as it reports every few seconds", async () => {
  const [atFirst, ...others] = await list();
  expect(others).toEqual([]);
  expect(atFirst).toMatchObject({
    name: "the only one",
    version: packageJson.version,
    url: herald().url,
    state: "live",
  });
  expect(atFirst?.id).toMatch(UUID_V7);
  expect(
    herald()
      .logLines()
      .find(({ msg }) => msg === "listening")?.node,
  ).toBe(atFirst?.id);
  const [one, two] = [await createOrganization(herald()), await createOrganization(herald())];
  using _socket = await one.socket("alice");
  using _again = await one.socket("alice");
  using _stream = await two.sse("bob");
  const later = await eventually(async () => {
    const [node] = await list();
    return node?.connections === 3 && node.lag_checked_at !== null ? node : undefined;
  }, "a report of three connections and of a look at the heads");
  expect(later).toEqual({
    ...(atFirst as Node),
    connections: 3,
    organizations: 2,
    lag_events: 0,
    reported_at: expect.stringMatching(ISO_MILLISECONDS),
    lag_checked_at: expect.stringMatching(ISO_MILLISECONDS),
  });
  expect(Date.parse(later.reported_at)).toBeGreaterThan(Date.parse(later.started_at));
});

test("the list of nodes takes no parameters, and needs a key", async () => {
  expectProblem(await herald().admin("GET", "/admin/nodes?limit=1"), 422, "invalid_request", "/limit");
  expectProblem(await herald().http("GET", "/admin/nodes"), 401, "unauthorized");
});
