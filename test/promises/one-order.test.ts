import { describe, expect, test } from "bun:test";
import { createResilientClient } from "../harness/clients/resilient-client.ts";
import type { Sse } from "../harness/clients/sse.ts";
import { within } from "../harness/deadline.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { startLoad } from "../harness/servers/load.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const herald = useHerald({
  env: {
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_REQUESTS_BURST: "0",
    HERALD_LIMIT_CONNECTIONS_PER_ADDRESS: "1100", // a thousand clients, and some spare
  },
});

describe("promise 3: every open connection hears every event once, in one order", () => {
  test("a thousand connections of a hundred users, with sixteen concurrent senders", async () => {
    const org = await createOrganization(herald());
    const uids = Array.from({ length: 100 }, (_, index) => `user ${index}`);
    const cid = await org.conversation(["sender", ...uids]);
    const tokens = await Promise.all(uids.map((uid) => org.token(uid)));
    const clients = Array.from({ length: 1_000 }, (_, index) =>
      createResilientClient(org, uids[index % 100] ?? "", tokens[index % 100] ?? ""),
    );
    for (let from = 0; from < clients.length; from += 100)
      await Promise.all(clients.slice(from, from + 100).map((client) => client.connect()));

    const load = startLoad(org, cid, "sender", 16);
    await within(
      (async () => {
        while (load.count() < 300) await Bun.sleep(5);
      })(),
      "300 acknowledged messages",
      60_000,
    );
    await load.stop();
    const acknowledged = load.acknowledged.flat();
    const last = await org.sent("sender", { cid, body: "the last" });
    await within(
      Promise.all(clients.map((client) => client.waitFor(last.server_mid))),
      () =>
        `the last message on every connection; ${clients.filter((client) => !client.ledger.seen.includes(last.server_mid)).length} lack it`,
      60_000,
    );
    const order = clients[0]?.ledger.seen ?? [];
    expect([...order].sort()).toEqual([...acknowledged, last.server_mid].sort());
    const text = order.join();
    for (const { ledger } of clients) {
      expect(ledger.seen.join() === text).toBe(true);
      expect(ledger.repeatsWithinConnection).toBe(0);
      expect(ledger.connections).toBe(1);
    }
    for (const mine of load.acknowledged) expect(mine).toEqual(order.filter((id) => mine.includes(id)));
    for (const client of clients) client.cut();
  });

  test("many connections in two conversations, beside another organization, with clients that join meanwhile", async () => {
    const [org, neighbour] = [await createOrganization(herald()), await createOrganization(herald())];
    const uids = Array.from({ length: 60 }, (_, index) => `user ${index}`);
    const cids = [await org.conversation(["sender", ...uids]), await org.conversation(["sender", ...uids])];
    const theirs = await neighbour.conversation(["sender"]);
    const tokens = await Promise.all(uids.map((uid) => org.token(uid)));
    const clientOf = (index: number) => createResilientClient(org, uids[index % 60] ?? "", tokens[index % 60] ?? "");
    const clients = Array.from({ length: 600 }, (_, index) => clientOf(index));
    for (let from = 0; from < clients.length; from += 100)
      await Promise.all(clients.slice(from, from + 100).map((client) => client.connect()));

    const neighbours = startLoad(neighbour, theirs, "sender", 1);
    const loads = cids.map((cid, index) => startLoad(org, cid, "sender", index === 0 ? 2 : 1));
    const joined = Array.from({ length: 20 }, (_, index) => clientOf(index));
    const connected: Promise<void>[] = [];
    for (const client of joined) {
      connected.push(client.connect());
      await Bun.sleep(30);
    }
    await Promise.all([neighbours, ...loads].map((load) => load.stop()));
    await Promise.all(connected);
    const last = (await org.sent("sender", { cid: cids[0] ?? "", body: "the last" })).server_mid;
    await within(
      Promise.all([...clients, ...joined].map((client) => client.waitFor(last))),
      "the last message",
      60_000,
    );
    const order = clients[0]?.ledger.seen ?? [];
    expect([...order].sort()).toEqual([...loads.flatMap((load) => load.acknowledged.flat()), last].sort());
    const text = order.join();
    for (const { ledger } of clients) expect(ledger.seen.join() === text).toBe(true);
    for (const { ledger } of joined) expect(ledger.seen).toEqual(order.slice(order.indexOf(ledger.seen[0] ?? "")));
    for (const { ledger } of [...clients, ...joined])
      expect([ledger.repeatsWithinConnection, ledger.connections]).toEqual([0, 1]);
    for (const client of [...clients, ...joined]) client.cut();
  });

  test("sockets and streams that join meanwhile hear a part without gaps", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["sender", "alice"]);
    const token = await org.token("alice");
    const witness = createResilientClient(org, "alice", token);
    await witness.connect();
    const load = startLoad(org, cid, "sender", 4);
    const joined: ReturnType<typeof createResilientClient>[] = [];
    const streams: Sse[] = [];
    for (let round = 0; round < 12; round += 1) {
      const client = createResilientClient(org, "alice", token);
      await client.connect();
      joined.push(client);
      if (round % 3 === 0) streams.push(await org.sse("alice"));
      const from = load.count();
      while (load.count() < from + 15) await Bun.sleep(1);
    }
    await load.stop();
    const last = (await org.sent("sender", { cid, body: "the last" })).server_mid;
    await within(
      Promise.all([witness, ...joined].map((client) => client.waitFor(last))),
      "the last message on every socket",
    );
    for (const stream of streams) await stream.next((event) => event.message?._id === last, "the last message");
    const all = witness.ledger.seen;
    expect(all).toHaveLength(load.count() + 1);
    for (const { ledger } of joined) {
      expect(ledger.repeatsWithinConnection).toBe(0);
      expect(ledger.seen).toEqual(all.slice(all.indexOf(ledger.seen[0] ?? "")));
    }
    for (const stream of streams) {
      const heard = stream.events.flatMap((event) => event.message?._id ?? []);
      expect(heard).toEqual(all.slice(all.indexOf(heard[0] ?? "")));
      stream.close();
    }
    for (const client of [witness, ...joined]) client.cut();
  });
});
