import { expect, test } from "bun:test";
import { eventually } from "../../harness/deadline.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";

const burst = 20;
const herald = useHerald({
  oneNode: "each node counts the refusals of an address by itself",
  env: {
    HERALD_LIMIT_REFUSALS_PER_SECOND: "1",
    HERALD_LIMIT_REFUSALS_BURST: String(burst),
    HERALD_TRUSTED_PROXIES: "127.0.0.1",
  },
});

const from = (address: string) => ({ "X-Forwarded-For": address });

test("requests with an invalid `Host` are counted by address: beyond the limit of refusals they get 429, and valid keys are served", async () => {
  const call = (headers: Record<string, string>) => herald().http("GET", "/healthz", { headers });
  const address = "192.0.2.7";
  const answers = await Promise.all(
    Array.from({ length: burst * 2 }, () => call({ Host: "a:99999", ...from(address) })),
  );
  expect(answers.filter(({ status }) => status === 400).length).toBeGreaterThanOrEqual(burst);
  // One more gets 400 each second, which a busy machine may take.
  const refused = await eventually(
    async () => {
      const answer = await call({ Host: "a:99999", ...from(address) });
      return answer.status === 429 ? answer : undefined;
    },
    "a refusal for the number of them",
    undefined,
    0,
  );
  expectProblem(refused, 429, "rate_limited");
  expect(refused.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  expectProblem(await call({ Host: "a:99999", ...from("192.0.2.8") }), 400, "bad_request");
  const headers = { ...from(address), "Admin-Api-Key": herald().key };
  expect((await herald().http("GET", "/admin/organizations", { headers })).status).toBe(200);
});
