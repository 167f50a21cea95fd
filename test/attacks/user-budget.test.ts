import { describe, expect, test } from "bun:test";
import { within } from "../harness/deadline.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

const herald = useHerald({ oneNode: "a user's budget is counted by each node" });

const ofUser = 240; // requests in 60 s over all connections
const connections = 8;

/**
 * Makes requests until the connection is closed, or the budget must be used up. Returns how many were answered, and how
 * it ended.
 */
async function askUntilClosed(org: Organization, uid: string, request: object) {
  const { socket } = await org.connect(uid);
  let answered = 0;
  for (; answered <= ofUser; answered++) {
    socket.send({ request: { ...request, id: answered } });
    const response = await Promise.race([
      socket.responses.next().catch(() => undefined),
      socket.closed.then(() => undefined),
    ]);
    if (response === undefined || response.error !== undefined) break;
  }
  const closed = answered > ofUser ? undefined : await within(socket.closed, "the close after a refusal");
  socket.terminate();
  return { answered, closed };
}

async function setUp() {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"]);
  await org.sent("alice", { cid, body: "something to list" });
  return { org, list: { message_list: { cid, limit: 1 } } };
}

describe("a user who returns whenever a socket has used up its requests (row 2)", () => {
  test("has one budget over all connections, is told when to return, and takes nothing from others", async () => {
    const { org, list } = await setUp();
    let answered = 0;
    let reason = "";
    for (let count = 0; count < connections; count++) {
      const run = await askUntilClosed(org, "alice", list).catch(() => undefined); // `connect` may be refused, too
      answered += run?.answered ?? 0;
      reason = run?.closed?.reason ?? reason;
    }
    expect(answered).toBeLessThanOrEqual(ofUser);
    expect(reason).toMatch(/retry in \d+ s/);
    using bob = await org.socket("bob");
    expect((await bob.request("ping")).pong).toEqual({});
  });

  test("is refused files without a look at the database", async () => {
    const { org, list } = await setUp();
    const headers = { Authorization: `Bearer ${await org.token("alice")}` };
    const download = () => herald().http<unknown>("GET", "/files/nothing", { headers });
    expectProblem(await download(), 404, "file_not_found");
    let answered = 0;
    for (let count = 0; count < connections; count++)
      answered += (await askUntilClosed(org, "alice", list).catch(() => undefined))?.answered ?? 0;
    expect(answered).toBeGreaterThan(0);
    expectProblem(await download(), 429, "rate_limited");
    await herald().admin("DELETE", org.path("users", "alice", "sessions"));
    expectProblem(await download(), 429, "rate_limited"); // only the database knows that the token is revoked
  });
});
