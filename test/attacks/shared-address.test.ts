import { describe, expect, test } from "bun:test";
import { openSocket } from "../harness/clients/socket.ts";
import { openSse, requestSse } from "../harness/clients/sse.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createKey } from "../harness/servers/keys.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { goodClaims, signToken } from "../harness/servers/tokens.ts";

const herald = useHerald({
  oneNode: "each node counts the refusals of an address by itself",
  env: { HERALD_LIMIT_REFUSALS_PER_SECOND: "1", HERALD_LIMIT_REFUSALS_BURST: "20" },
});

const badOnes = 60;
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** Presents bad tokens until the address has no refusals left. Returns the last status. */
async function useUp(org: string): Promise<number | undefined> {
  const bad = await signToken(goodClaims(org, "alice"), {}, "another secret, which is no less than 32 bytes");
  let last: number | undefined;
  for (let count = 0; count < badOnes; count++) {
    const answer = await requestSse(herald().url, bearer(bad));
    last = "refused" in answer ? answer.refused.status : undefined;
  }
  return last;
}

describe("a client that shares an address with refused ones (row 6)", () => {
  test("gets in with a valid token, over a stream, and by a socket in either way", async () => {
    const org = await createOrganization(herald());
    const token = await org.token("alice");
    expect(await useUp(org.id)).toBe(429);
    using stream = await openSse(herald().url, bearer(token));
    expect(stream.headers.get("content-type")).toContain("text/event-stream");
    using upgraded = await openSocket(herald().url, { headers: bearer(token) });
    expect((await upgraded.request("ping")).pong).toEqual({});
    using connected = await openSocket(herald().url);
    expect(await connected.request("connect", { token })).toMatchObject({ success: true });
  });

  test("gets in with a valid key that the node has not seen before", async () => {
    const org = await createOrganization(herald());
    const { key } = await createKey(herald());
    expect(await useUp(org.id)).toBe(429);
    const answer = await herald().http("GET", "/admin/self", { headers: { "Admin-Api-Key": key } });
    expect(answer.status).toBe(200);
  });
});
