import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createResilientClient } from "../harness/clients/resilient-client.ts";
import { eventually, within } from "../harness/deadline.ts";
import { createRandom } from "../harness/random.ts";
import { messageBecomes, reportOf } from "../harness/reading/reports.ts";
import { startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const LIFTED = {
  HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
  HERALD_LIMIT_REQUESTS_BURST: "0",
  HERALD_TOKEN_SECRET: "a secret that outlives the restarts of the server",
};

describe("a delivery report claims no more than happened, and forgets nothing it has shown", () => {
  test("across stops and kills of the server: what was shown stays, as does what was played last before a stop", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "herald-report-"));
    try {
      const shown: { id: string; users: number }[] = [];
      let organizationId: string | undefined;
      for (let round = 0; round < 4; round++) {
        await using herald = await startHerald({ dataDir, env: LIFTED });
        const org = await createOrganization(herald, organizationId);
        organizationId = org.id;
        if (round === 0) await org.conversation(["alice", "bob", "carol"], "room");
        for (const { id, users } of shown)
          expect((await reportOf(org, id)).delivery).toMatchObject({
            delivered_users: users,
            delivered_connections: users,
          });
        using bob = await org.socket("bob");
        using _carol = round % 2 === 0 ? await org.socket("carol") : undefined;
        const users = round % 2 === 0 ? 2 : 1;
        const { server_mid } = await org.sent("alice", { cid: "room", body: `${round}` });
        await bob.next();
        if (round % 2 === 1) await messageBecomes(org, server_mid, { delivered_users: users });
        shown.push({ id: server_mid, users });
        if (round % 2 === 1) await herald.kill();
        else await herald.stop(); // at once, before anybody has looked
      }
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  test("for a reader that was cut: nothing that came after; and of what it returns for, its user once", async () => {
    await using herald = await startHerald({ env: { ...LIFTED, HERALD_LIMIT_CONNECTION_BACKLOG_BYTES: "1048576" } });
    const org = await createOrganization(herald);
    const cid = await org.conversation(["sender", "alice", "slow"]);
    const neighbour = createResilientClient(org, "alice", await org.token("alice"));
    const slow = createResilientClient(org, "slow", await org.token("slow"));
    await Promise.all([neighbour, slow].map((client) => client.connect()));
    const first = await org.sent("sender", { cid, body: "the first" });
    await slow.waitFor(first.server_mid);
    slow.pause();
    const body = "x".repeat(60_000);
    let last = first.server_mid;
    // More than the kernel and the backlog hold.
    for (let index = 0; index < 300; index++) last = (await org.sent("sender", { cid, body })).server_mid;
    await within(neighbour.waitFor(last), "the last message at the neighbour");
    await messageBecomes(org, first.server_mid, { recipients: 3, delivered_users: 2, delivered_connections: 2 });
    await messageBecomes(org, last, { recipients: 3, delivered_users: 1, delivered_connections: 1 });
    slow.resume();
    await within(slow.ended(), "the slow reader to be cut");
    expect(slow.ledger.seen).not.toContain(last);
    await slow.connect();
    await within(slow.waitFor(last), "what the slow reader missed");
    await messageBecomes(org, last, { delivered_users: 2, delivered_connections: 2 });
    await messageBecomes(org, first.server_mid, { delivered_users: 2, delivered_connections: 2 });
    for (const client of [neighbour, slow]) client.cut();
  });

  test("and agrees with what clients heard that come, go and return while messages are sent", async () => {
    await using herald = await startHerald({ env: LIFTED });
    const random = createRandom();
    const org = await createOrganization(herald);
    const uids = ["u0", "u1", "u2", "u3", "u4"];
    const cid = await org.conversation(["sender", ...uids]);
    const clients = await Promise.all(
      [...uids, ...uids].map(async (uid) => createResilientClient(org, uid, await org.token(uid))),
    );
    await Promise.all(clients.map((client) => client.connect()));
    const sent: string[] = [];
    for (let index = 0; index < 300; index++) {
      const client = random.pick(clients);
      if (random.next() < 0.1) {
        client.cut();
        await client.ended();
        await client.connect();
      }
      sent.push((await org.sent("sender", { cid, body: `${index}` })).server_mid);
    }
    await Promise.all(clients.map((client) => client.waitFor(sent.at(-1) ?? "")));
    for (const id of sent) {
      const heard = clients.filter(({ ledger }) => ledger.seen.includes(id));
      const connections = clients
        .flatMap(({ ledger }) => ledger.perConnection)
        .filter((ids) => ids.includes(id)).length;
      // What was replayed to a second connection of a user may be counted later than the user. There may be more: a
      // client may not have read what was written just before it broke its connection.
      await eventually(
        async () => (await reportOf(org, id)).delivery.delivered_connections >= connections || undefined,
        () => `the report of ${id} to count ${connections} connections`,
      );
      const { delivery } = await messageBecomes(org, id, {
        delivered_users: new Set(heard.map(({ uid }) => uid)).size,
      });
      expect(delivery.delivered_connections).toBeGreaterThanOrEqual(connections);
      expect(delivery.recipients).toBe(6);
    }
    for (const client of clients) client.cut();
  });
});
