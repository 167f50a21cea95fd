import { expect, test } from "bun:test";
import { openSocket } from "../../harness/clients/socket.ts";
import { requestSse } from "../../harness/clients/sse.ts";
import { eventually } from "../../harness/deadline.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald({
  oneNode: "each node counts its own connections",
  env: { HERALD_LIMIT_ORGANIZATION_CONNECTIONS: "3" },
});

test("the connections of an organization are limited over all its users, without counting another's", async () => {
  const org = await createOrganization(herald());
  const other = await createOrganization(herald());
  using alice = await org.socket("alice");
  using bob = await org.socket("bob");
  using carol = await org.sse("carol");
  const token = await org.token("dave");
  const headers = { Authorization: `Bearer ${token}` };

  using byFrame = await openSocket(herald().url, { uid: "dave" });
  const refused = await byFrame.request("connect", { token });
  expect(refused.error).toMatchObject({ status: 429, code: "rate_limited" });
  expect(refused.error?.message).toStartWith("this organization has too many connections");
  using byHeader = await openSocket(herald().url, { headers, uid: "dave" });
  for (const { closed } of [byFrame, byHeader])
    expect(await closed).toEqual({
      code: 4429,
      reason: "too many connections or requests (connections-per-organization); retry in 5 s",
    });
  const answer = await requestSse(herald().url, headers, "dave");
  if ("sse" in answer) throw new Error("a fourth connection was granted");
  expectProblem(answer.refused, 429, "rate_limited");
  expect(answer.refused.headers.get("retry-after")).toBe("5");
  expect(answer.refused.headers.get("ratelimit-policy")).toBe('"connections-per-organization";q=3');

  using stranger = await other.socket("alice");
  expect((await alice.request("connect", { token: await org.token("alice") })).success).toBe(true); // continues to work
  await org.expectNothingElse(alice, bob, carol);
  await stranger.expectSilence();
  bob.terminate();
  using dave = await eventually(() => org.socket("dave").catch(() => undefined), "room for another connection");
  await org.expectNothingElse(dave);
});

test("an organization may have a limit of its own, which takes effect at once on the node it is set on", async () => {
  const org = await createOrganization(herald());
  const setLimit = async (connections: number | null) =>
    expect((await herald().admin("PUT", org.path(), { limits: { connections } })).status).toBe(200);
  await setLimit(1);
  using alice = await org.socket("alice");
  await expect(org.socket("bob")).rejects.toThrow("this organization has too many connections");
  await setLimit(0);
  using bob = await org.socket("bob");
  using carol = await org.socket("carol");
  using dave = await org.socket("dave");
  await setLimit(null);
  await expect(org.socket("erin")).rejects.toThrow("this organization has too many connections");
  await org.expectNothingElse(alice, bob, carol, dave); // open ones stay
});
