import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createResilientClient, type ResilientClient } from "../harness/clients/resilient-client.ts";
import { within } from "../harness/deadline.ts";
import { createRandom, uniqueId } from "../harness/random.ts";
import { errorsLogged, startHerald } from "../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const LIFTED = {
  HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
  HERALD_LIMIT_REQUESTS_BURST: "0",
  HERALD_LIMIT_RECOVERY_MESSAGES: "100000",
  HERALD_TOKEN_SECRET: "a secret that outlives the restarts of the server",
};

/** Sends until the server is gone, ignoring sends without an answer. Acknowledged ids go to the list. */
async function sendUntilGone(org: Organization, cid: string, acknowledged: string[]): Promise<void> {
  for (;;) {
    const answer = await org.send("sender", { id: uniqueId("m"), cid, body: "x" }).catch(() => undefined);
    if (answer?.status === 201) acknowledged.push(answer.body.ask.server_mid);
    // A stopping server may say so before it is gone.
    else if (answer === undefined || answer.status === 503) return;
    else throw new Error(`a send was answered with ${answer.status}: ${answer.text}`);
  }
}

describe("restarts lose nothing", () => {
  test("for clients that return with since: each hears everything acknowledged, in order, and nothing that is not stored", async () => {
    const random = createRandom();
    const dataDir = mkdtempSync(join(tmpdir(), "herald-restart-"));
    const acknowledged: string[] = [];
    let clients: ResilientClient[] = [];
    let organizationId: string | undefined;
    try {
      for (let round = 0; round < 10; round += 1) {
        await using herald = await startHerald({ dataDir, env: LIFTED });
        const org = await createOrganization(herald, organizationId);
        if (organizationId === undefined) {
          organizationId = org.id;
          await org.conversation(["sender", "alice"], "room");
          const token = await org.token("alice");
          clients = Array.from({ length: 10 }, () => createResilientClient(org, "alice", token));
        }
        const connecting = Promise.all(clients.map((client) => client.connect(herald.url)));
        // In half of the rounds everyone is back before the load begins, in the other half during it.
        if (round % 2 === 0) await connecting;
        const sending = Promise.all(Array.from({ length: 6 }, () => sendUntilGone(org, "room", acknowledged)));
        await connecting;
        const wanted = acknowledged.length + random.integer(20, 300);
        while (acknowledged.length < wanted) await Promise.race([Bun.sleep(1), sending]);
        if (round % 3 === 2) {
          await herald.stop();
          expect(errorsLogged(herald)).toEqual([]);
        } else await herald.kill();
        await sending;
        await within(Promise.all(clients.map((client) => client.ended())), "every connection to end with its server");
      }

      await using herald = await startHerald({ dataDir, env: LIFTED });
      const org = await createOrganization(herald, organizationId);
      await Promise.all(clients.map((client) => client.connect(herald.url)));
      const last = (await org.sent("sender", { cid: "room", body: "the last" })).server_mid;
      await within(Promise.all(clients.map((client) => client.waitFor(last))), "the last message at every client");
      const history = (await org.history("room")).map((message) => message._id).reverse();
      expect(acknowledged.filter((id) => !history.includes(id))).toEqual([]);
      for (const { ledger } of clients) {
        expect({ seed: random.seed, gaps: ledger.gapsAdmitted, repeats: ledger.repeatsWithinConnection }).toEqual({
          seed: random.seed,
          gaps: 0,
          repeats: 0,
        });
        expect(ledger.seen).toEqual(history.slice(history.indexOf(ledger.seen[0] ?? "")));
      }
      // The first client was there from the beginning.
      expect(clients[0]?.ledger.seen).toEqual(history);
      for (const client of clients) client.cut();
      await herald.stop();
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
