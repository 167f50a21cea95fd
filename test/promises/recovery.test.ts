import { describe, expect, test } from "bun:test";
import { createResilientClient } from "../harness/clients/resilient-client.ts";
import { within } from "../harness/deadline.ts";
import { createRandom } from "../harness/random.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { startLoad } from "../harness/servers/load.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const herald = useHerald({
  env: {
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_REQUESTS_BURST: "0",
    HERALD_LIMIT_RECOVERY_MESSAGES: "100000",
    HERALD_LIMIT_USER_REQUESTS: "0", // one user's hundreds of replays: the faster the machine, the longer they are
  },
});

describe("promise 4: after a break, since gives exactly what was missed", () => {
  test("to clients that are cut at random moments under load: together they saw everything, in order, without a silent gap", async () => {
    const random = createRandom();
    const org = await createOrganization(herald());
    const cid = await org.conversation(["sender", "alice"]);
    const quiet = await org.conversation(["sender"]);
    const token = await org.token("alice");
    const witness = createResilientClient(org, "alice", token);
    await witness.connect();
    const first = (await org.sent("sender", { cid, body: "the first" })).server_mid;
    const clients = Array.from({ length: 8 }, () => createResilientClient(org, "alice", token));
    await Promise.all(clients.map((client) => client.connect()));
    const start = (await org.sent("sender", { cid, body: "the start" })).server_mid;
    await Promise.all(clients.map((client) => client.waitFor(start)));

    const loads = [startLoad(org, cid, "sender", 4), startLoad(org, quiet, "sender", 1)];
    await within(
      Promise.all(
        clients.map(async (client) => {
          for (let cuts = 0; cuts < 60; cuts += 1) {
            // Some breaks come during connecting or the replay, some later.
            await Bun.sleep(random.integer(0, 30));
            client.cut();
            await Bun.sleep(random.integer(0, 20));
            const connecting = client.connect();
            if (random.next() < 0.4) {
              await Bun.sleep(random.integer(0, 4));
              client.cut();
              // Whether it was answered before the cut or not, it is gone.
              await connecting.catch(() => undefined);
              await client.connect();
            } else await connecting;
          }
        }),
      ),
      "60 breaks of each client",
      50_000,
    );
    await Promise.all(loads.map((load) => load.stop()));
    const last = (await org.sent("sender", { cid, body: "the last" })).server_mid;
    await within(
      Promise.all([witness, ...clients].map((client) => client.waitFor(last))),
      "the last message at every client",
    );

    const all = witness.ledger.seen;
    expect([...all].sort()).toEqual([first, start, ...(loads[0]?.acknowledged.flat() ?? []), last].sort());
    for (const { ledger } of clients) {
      expect({ seed: random.seed, gaps: ledger.gapsAdmitted, repeats: ledger.repeatsWithinConnection }).toEqual({
        seed: random.seed,
        gaps: 0,
        repeats: 0,
      });
      expect(ledger.connections).toBeGreaterThan(60);
      expect(ledger.seen).toEqual(all.slice(all.indexOf(ledger.seen[0] ?? "")));
      expect(ledger.seen).toContain(start);
    }
    for (const client of [witness, ...clients]) client.cut();
  });

  test("to streams that break and return with Last-Event-ID", async () => {
    const random = createRandom();
    const org = await createOrganization(herald());
    const cid = await org.conversation(["sender", "alice"]);
    const start = (await org.sent("sender", { cid, body: "the start" })).server_mid;
    const load = startLoad(org, cid, "sender", 3);
    const seen: string[] = [];
    let last = start;
    for (let round = 0; round < 25; round += 1) {
      using stream = await org.sse("alice", { lastEventId: last });
      expect(stream.headers.get("herald-recovered")).toBe("true");
      for (let count = random.integer(1, 40); count > 0; count -= 1) {
        last = (await stream.next()).message?._id ?? "";
        seen.push(last);
      }
    }
    await load.stop();
    const end = (await org.sent("sender", { cid, body: "the end" })).server_mid;
    using stream = await org.sse("alice", { lastEventId: last });
    while (last !== end) {
      last = (await stream.next()).message?._id ?? "";
      seen.push(last);
    }
    const history = (await org.history(cid)).map((message) => message._id).reverse();
    expect([start, ...seen]).toEqual(history);
  });
});
