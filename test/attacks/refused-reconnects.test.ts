import { describe, expect, test } from "bun:test";
import { openSocket } from "../harness/clients/socket.ts";
import { requestSse } from "../harness/clients/sse.ts";
import { within } from "../harness/deadline.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

const env = { HERALD_LIMIT_USER_REQUESTS: "1", HERALD_TRUSTED_PROXIES: "127.0.0.1" };
const herald = useHerald({ oneNode: "who is refused by one node waits for nobody who is by another", env });
const clients = 300;
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const elsewhere = { "X-Forwarded-For": "192.0.2.1" }; // another address than that of those who are refused

/** The token of a user whose budget is used up. */
async function overBudget(org: Organization, uid: string): Promise<string> {
  using socket = await org.socket(uid);
  while ((await socket.request("ping").catch(() => undefined))?.pong !== undefined);
  return await org.token(uid);
}

describe("a client that is refused and returns at once", () => {
  test("waits for its turn, and delays one of another organization by a few turns", async () => {
    const [one, other] = await Promise.all([createOrganization(herald()), createOrganization(herald())]);
    const [token, otherToken] = await Promise.all([overBudget(one, "alice"), overBudget(other, "bob")]);
    let refused = 0;
    const sockets = await Promise.all(
      Array.from({ length: clients }, async () => {
        const socket = await openSocket(herald().url);
        void socket.closed.then(() => refused++);
        return socket;
      }),
    );
    for (const socket of sockets) socket.send({ request: { connect: { token }, id: 1 } });
    const answer = await requestSse(herald().url, { ...bearer(otherToken), ...elsewhere });
    expect("refused" in answer && answer.refused.status).toBe(429);
    expect(refused).toBeLessThan(clients / 2);
    const codes = await Promise.all(sockets.map(async ({ closed }) => (await within(closed, "a close")).code));
    expect(new Set(codes)).toEqual(new Set([4429]));
  });
});
