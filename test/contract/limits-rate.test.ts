import { describe, expect, test } from "bun:test";
import { eventually } from "../harness/deadline.ts";
import { expectProblem } from "../harness/expectations.ts";
import { useHerald } from "../harness/herald.ts";
import { createOrganization } from "../harness/organization.ts";
import { expectClosed } from "../harness/socket.ts";

const herald = useHerald({
  oneNode: "each node counts the requests of a key by itself",
  env: {
    HERALD_LIMIT_REQUESTS_PER_SECOND: "5",
    HERALD_LIMIT_REQUESTS_BURST: "40",
    HERALD_LIMIT_REQUESTS_PER_CONNECTION: "8",
  },
});

describe("rates", () => {
  test("a connection may make so many requests in a minute; one more is answered with 429, then it is closed with 4429", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    let answered = 0;
    let refusal: number | undefined;
    while (refusal === undefined && answered < 20) {
      const response = await alice.request("ping");
      if (response.error === undefined) answered += 1;
      else {
        refusal = response.error.status;
        expect(response.error.code).toBe("rate_limited");
      }
    }
    expect(refusal).toBe(429);
    // `connect` may count as one of the eight.
    expect([7, 8]).toContain(answered);
    await expectClosed(alice, 4429);
    using again = await org.socket("alice");
    await again.expectSilence();
  });

  test("a key may make so many requests in one burst; more get 429 with Retry-After, RateLimit and RateLimit-Policy, until it has waited", async () => {
    const org = await createOrganization(herald());
    const answers = await Promise.all(Array.from({ length: 120 }, () => herald().admin("GET", org.path())));
    const refused = answers.filter((answer) => answer.status !== 200);
    expect(answers.length - refused.length).toBeGreaterThan(0);
    expect(answers.length - refused.length).toBeLessThanOrEqual(60);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) {
      expectProblem(answer, 429, "rate_limited");
      expect(answer.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
      // RateLimit: "default";r=0;t=1 and RateLimit-Policy: "default";q=40;w=… (draft-ietf-httpapi-ratelimit-headers)
      expect(answer.headers.get("ratelimit") ?? "").toMatch(/;\s*r=0/);
      expect(answer.headers.get("ratelimit-policy") ?? "").toMatch(/;\s*q=\d+/);
    }
    // Whoever has no key is not asked for one's rate, and open pages stay open.
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
