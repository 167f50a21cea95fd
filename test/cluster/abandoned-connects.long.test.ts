import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { openRawSocket } from "../harness/clients/raw-socket.ts";
import { openSocket } from "../harness/clients/socket.ts";
import { eventually, within } from "../harness/deadline.ts";
import { startPostgres } from "../harness/engines/postgres.ts";
import { expectNothingHeld, heldBy } from "../harness/reading/held.ts";
import { startCluster } from "../harness/servers/cluster.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const postgres = await startPostgres();
const attempts = 25; // more than a user may have at once
const mayHave = 20;

/** Begins work that waits for the database, on many connections at once, and aborts them. */
type Abandon = (org: Organization, token: string) => Promise<() => void>;

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** Sends HTTP requests; returns the function that aborts all of them. */
function abandonRequests(url: string, headers: Record<string, string>): () => void {
  const hangUp = new AbortController();
  for (let index = 0; index < attempts; index++)
    void fetch(url, { headers, signal: hangUp.signal }).catch(() => undefined);
  return () => hangUp.abort();
}

const abandonments: Record<string, Abandon> = {
  "a `connect` over a WebSocket": async ({ herald }, token) => {
    const sockets = await Promise.all(Array.from({ length: attempts }, () => openRawSocket(herald.url)));
    for (const socket of sockets) socket.sendText({ request: { connect: { token }, id: 1 } });
    return () => {
      for (const socket of sockets) socket.cut();
    };
  },
  "a WebSocket whose upgrade carries a token": async ({ herald }, token) => {
    const hangUp = new AbortController();
    for (let index = 0; index < attempts; index++)
      openRawSocket(herald.url, { token, signal: hangUp.signal }).catch(() => undefined);
    return () => hangUp.abort();
  },
  "a stream of server-sent events": async ({ herald }, token) => abandonRequests(`${herald.url}/sse`, bearer(token)),
  "a feed": async ({ herald, path }) =>
    abandonRequests(`${herald.url}${path("events")}?uid=somebody`, { "Admin-Api-Key": herald.key }),
};

if (postgres !== undefined) {
  afterAll(() => postgres.stop());

  test("clients that hang up while the database is slow leave nothing behind, however they connect", async () => {
    await using cluster = await startCluster({ nodes: 1, postgres, nats: null });
    const { herald } = cluster.node(0);
    const org = await createOrganization(herald);
    await org.conversation(Object.keys(abandonments));
    const tokens = await Promise.all(Object.keys(abandonments).map((uid) => org.token(uid)));
    postgres.freeze();
    try {
      const begun = Object.values(abandonments).map((abandon, index) => abandon(org, tokens[index] ?? ""));
      const hangUps = await Promise.all(begun);
      await eventually(
        // The last ones are feeds, which are not connections of a user.
        async () =>
          ((await heldBy(herald)).address_places ?? 0) >= mayHave * (hangUps.length - 1) + attempts || undefined,
        "the node to be at work for as many as users may have",
      );
      for (const hangUp of hangUps) hangUp();
      // A client that hangs up frees the address's place at once, however long the database takes.
      await eventually(
        async () => (await heldBy(herald)).address_places === undefined || undefined,
        "the places to be given back",
      );
    } finally {
      postgres.resume();
    }
    await expectNothingHeld(herald);
    for (const uid of Object.keys(abandonments)) {
      using socket = await org.socket(uid);
      expect((await socket.request("ping")).pong).toEqual({});
    }
  });

  test("clients that wait too long for a slow database are told different times to return, and are let in then", async () => {
    await using cluster = await startCluster({ nodes: 1, postgres, nats: null });
    const { herald } = cluster.node(0);
    const org = await createOrganization(herald);
    const uids = Array.from({ length: 60 }, (_, index) => `user ${index}`);
    const tokens = await Promise.all(uids.map((uid) => org.token(uid)));
    postgres.freeze();
    const told: string[] = [];
    try {
      const sockets = await Promise.all(uids.map((uid) => openSocket(herald.url, { uid })));
      for (const [index, socket] of sockets.entries())
        socket.send({ request: { connect: { token: tokens[index] }, id: 1 } });
      const refused = await eventually(() => {
        // Those whose turn has come get another error if the database takes too long.
        const answered = sockets.filter(({ responses }) => responses.all[0]?.error?.code === "rate_limited");
        return answered.length > 10 ? answered : undefined;
      }, "those to be refused who wait behind the first");
      for (const socket of refused) {
        const { code, reason } = await within(socket.closed, "the close of a refused socket");
        expect(code).toBe(4429);
        told.push(/; retry in (\d+) s$/.exec(reason)?.[1] ?? reason);
      }
      for (const socket of sockets) socket.terminate();
    } finally {
      postgres.resume();
    }
    for (const seconds of told) expect(Number(seconds)).toBeWithin(1, 11);
    expect(new Set(told).size).toBeGreaterThan(2);
    using socket = await eventually(() => org.socket("user 59").catch(() => undefined), "a refused user to be let in");
    expect((await socket.request("ping")).pong).toEqual({});
  });
}
