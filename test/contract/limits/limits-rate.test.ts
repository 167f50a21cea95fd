import { describe, expect, test } from "bun:test";
import { expectClosed } from "../../harness/clients/socket.ts";
import { eventually } from "../../harness/deadline.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald({
  oneNode: "each node counts the requests of a key by itself",
  env: {
    HERALD_LIMIT_REQUESTS_PER_SECOND: "5",
    HERALD_LIMIT_REQUESTS_BURST: "40",
    HERALD_LIMIT_REQUESTS_PER_CONNECTION: "8",
  },
});

describe("rates", () => {
  test("a connection may make a number of requests per minute; one more is answered with 429, then it is closed with 4429", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    // `connect` counts as one of the eight.
    for (let count = 0; count < 7; count++) expect((await alice.request("ping")).error).toBeUndefined();
    expect((await alice.request("ping")).error).toMatchObject({ status: 429, code: "rate_limited" });
    await expectClosed(alice, 4429);
    using again = await org.socket("alice");
    await again.expectSilence();
  });

  test("a key may make a burst of requests; more get 429 with Retry-After, RateLimit and RateLimit-Policy, until it has waited", async () => {
    const org = await createOrganization(herald());
    const answers = await Promise.all(Array.from({ length: 120 }, () => herald().admin("GET", org.path())));
    const refused = answers.filter((answer) => answer.status !== 200);
    // The burst, and what is refilled within 4 s, less what this key did before.
    expect(answers.length - refused.length).toBeWithin(30, 61);
    for (const answer of refused) {
      expectProblem(answer, 429, "rate_limited");
      expect(answer.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
      // draft-ietf-httpapi-ratelimit-headers
      expect(answer.headers.get("ratelimit")).toMatch(/^"requests";r=0;t=\d+$/);
      expect(answer.headers.get("ratelimit-policy")).toBe('"requests";q=5;w=1');
    }
    // Callers without a key have no rate to check, and open pages stay open.
    expect((await herald().http("GET", "/healthz")).status).toBe(200);
    const after = Number(refused[0]?.headers.get("retry-after"));
    expect(after).toBeLessThanOrEqual(60);
    const allowed = await eventually(async () => {
      const answer = await herald().admin("GET", org.path());
      return answer.status === 200 ? answer : undefined;
    }, "an answer other than 429 once Retry-After had passed");
    expect(allowed.status).toBe(200);
  });
});
