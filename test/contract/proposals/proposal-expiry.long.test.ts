import { expect, setDefaultTimeout, test } from "bun:test";
import { createSteppedClock } from "../../harness/engines/stepped-clock.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { startHerald } from "../../harness/servers/herald.ts";
import { createKey } from "../../harness/servers/keys.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { proposing } from "../../harness/servers/proposing.ts";

setDefaultTimeout(120_000);

const daySeconds = 86_400;

test("a proposal that nobody has decided within a day has expired, and is never sent", async () => {
  using clock = createSteppedClock();
  if (clock === undefined) return;
  await using herald = await startHerald({ env: clock.env });
  const org = await createOrganization(herald);
  const cid = await org.conversation(["alice"]);
  const { put, get, approve, reject, messageOf } = proposing(org);
  const { key: agent } = await createKey(herald, { scopes: ["message:propose"] });
  const wish = { request: messageOf("alice", { cid, body: "x" }), reason: "why" };
  for (const id of ["one", "two"]) await put(id, wish, agent);
  clock.set(daySeconds - 60);
  expect((await approve("one")).body.state).toBe("approved");
  clock.set(daySeconds + 1);
  const expired = { id: "two", state: "expired", request: null, reason: "why", decided_by: null, decided_at: null };
  expect((await get("two")).body).toMatchObject(expired);
  for (const decide of [approve, reject]) {
    const late = await decide("two");
    expectProblem(late, 409, "already_sent");
    expect(JSON.stringify(late.body)).toContain("it has expired");
  }
  const again = await put("two", wish, agent);
  expect([again.status, again.body.state]).toEqual([200, "expired"]);
  const states = async (state: string) => {
    const { body } = await herald.admin<{ items: { id: string }[] }>("GET", `${org.path("proposals")}?state=${state}`);
    return body.items.map(({ id }) => id);
  };
  expect([await states("waiting"), await states("expired"), await states("approved")]).toEqual([[], ["two"], ["one"]]);
  expect(await org.history(cid)).toHaveLength(1);
});
