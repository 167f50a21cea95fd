import { expect, test } from "bun:test";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { filesOf } from "../../harness/servers/files.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const mebibyte = 1_048_576;
const herald = useHerald({
  oneNode: "a user's budget is counted by each node",
  env: { HERALD_LIMIT_USER_REQUESTS: "2" },
});

/** A file that alice and bob may have, and what asks for it with a user's token. */
async function setUp(bytes: number) {
  const org = await createOrganization(herald());
  const files = filesOf(org);
  const cid = await org.conversation(["alice", "bob"]);
  const { file_id } = await files.uploaded("a", "x".repeat(bytes));
  await org.sent("alice", { cid, attachments: [{ name: "a", file_id }] });
  const askAs = async (uid: string) => {
    const token = { Authorization: `Bearer ${await org.token(uid)}` };
    return (headers = {}) => files.download(file_id, { ...token, ...headers });
  };
  return { files, file_id, askAs };
}

test("a user pays a quarter of a request for each file that is asked for, also if nothing is sent, and then waits", async () => {
  const { files, file_id, askAs } = await setUp(4);
  const [alice, bob] = [await askAs("alice"), await askAs("bob")];
  const etag = (await alice()).headers.get("etag");
  for (let count = 1; count < 8; count++) expect((await alice({ "If-None-Match": etag })).status).toBe(304);
  const refused = await alice();
  expectProblem(refused, 429, "rate_limited");
  expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 61);
  expect((await bob()).status).toBe(200);
  expect((await files.download(file_id)).status).toBe(200);
});

test("a user pays for the bytes, one request for each 4 MiB, and for a part of a file only for that", async () => {
  const { askAs } = await setUp(8 * mebibyte);
  const [alice, bob] = [await askAs("alice"), await askAs("bob")];
  expect((await alice()).status).toBe(200);
  expectProblem(await alice(), 429, "rate_limited");
  for (let count = 0; count < 7; count++) expect((await bob({ Range: "bytes=0-9" })).status).toBe(206);
});
