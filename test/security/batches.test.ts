import { expect, test } from "bun:test";
import { sendBatch } from "../harness/clients/batch.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { canary, contentsOf, createTenant, type Ids, idsOfNothing } from "./tenants.ts";

const herald = useHerald();

const linesAbout = ({ org, uid, cid }: Ids) => [
  { organizationId: org, senderId: uid, message: { cid, body: "x" } },
  { organizationId: org, senderId: uid, messageSystem: { uids: [uid] } },
];

test("promise 6: the key of one organization gets one refusal for each line about another, and sends nothing there", async () => {
  const mine = await createTenant(herald(), "mine");
  const other = await createTenant(herald(), canary);
  const before = await contentsOf(other);
  using listener = await other.org.socket("alice");
  const nothing = idsOfNothing();
  /** The answers, but for what differs by nature: the id of the request, and the organization as the caller wrote it. */
  const ask = async (ids: Ids) => {
    const { answers } = await sendBatch(herald(), linesAbout(ids), { key: mine.key });
    return answers.map(({ problem, ...answer }) => ({
      ...answer,
      problem: { ...problem, request_id: "", detail: problem?.detail.replace(`\`${ids.org}\``, "`…`") },
    }));
  };
  const refusals = await ask(nothing);
  expect(refusals.map(({ status, problem }) => [status, problem.code])).toEqual(
    Array(2).fill([403, "organization_forbidden"]),
  );
  for (const ids of [other.own, other.shared, { ...nothing, org: other.own.org }])
    expect(await ask(ids)).toEqual(refusals);
  expect(await contentsOf(other)).toBe(before);
  await other.org.expectNothingElse(listener);
});
