import { expect, test } from "bun:test";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { hooksOf, startReceiver } from "../../harness/servers/receiver.ts";

const herald = useHerald({
  oneNode: "each node counts the tests that it receives",
  env: { HERALD_WEBHOOK_ALLOW_PRIVATE: "1" },
});

const atOnce = 6;

test("an organization tests its webhooks a few times a minute, and then is told when to try again", async () => {
  const [org, other] = [await createOrganization(herald()), await createOrganization(herald())];
  using receiver = startReceiver();
  await hooksOf(org).toReceiver("push", receiver);
  await hooksOf(org).toReceiver("another", receiver);
  await hooksOf(other).toReceiver("push", receiver);
  const answers = await Promise.all(
    Array.from({ length: 3 * atOnce }, (_, index) =>
      hooksOf(org).call("POST", [index % 2 === 0 ? "push" : "another", "test"]),
    ),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  expect(answers.length - refused.length).toBeWithin(atOnce, 2 * atOnce); // more on a machine that takes a minute
  for (const answer of refused) {
    expectProblem(answer, 429, "rate_limited");
    expect(Number(answer.headers.get("retry-after"))).toBeWithin(1, 61);
  }
  expect(receiver.received).toHaveLength(answers.length - refused.length);
  expect((await hooksOf(other).call("POST", ["push", "test"])).status).toBe(200);
});
