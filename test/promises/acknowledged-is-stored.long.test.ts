import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ask, Message } from "../harness/clients/wire.ts";
import { createRandom, type Random } from "../harness/random.ts";
import { startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const LIFTED = {
  HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
  HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
  HERALD_LIMIT_REQUESTS_BURST: "0",
};
const SENDERS = 8;

/** What a sender knows: each id it sent, and the answer if there was one, in the order of sending. */
type Ledger = { sender: string; sends: { mid: string; serverMid: string | undefined }[] };

/**
 * Sends one message at a time, each with an id of its own; after an unknown outcome again with the same id, as the
 * contract says.
 */
async function sendUntilKilled(
  url: string,
  key: string,
  organizationId: string,
  cid: string,
  ledger: Ledger,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const open = ledger.sends.at(-1);
    const entry =
      open !== undefined && open.serverMid === undefined
        ? open
        : { mid: `${ledger.sender} ${ledger.sends.length}`, serverMid: undefined as string | undefined };
    if (entry !== open) ledger.sends.push(entry);
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${url}/admin/message`, {
        method: "POST",
        headers: { "Admin-Api-Key": key, "Content-Type": "application/json" },
        body: JSON.stringify({
          organizationId,
          senderId: ledger.sender,
          message: { id: entry.mid, cid, body: entry.mid },
        }),
      });
      text = await response.text();
    } catch {
      // No answer: the outcome is unknown.
      return;
    }
    if (response.status !== 201) throw new Error(`a send was answered with ${response.status}: ${text}`);
    entry.serverMid = (JSON.parse(text) as Ask).ask.server_mid;
  }
}

describe("promise 1: 201 is stored", () => {
  test("every acknowledged message survives 30 kills under load, once, in the order of each sender", async () => {
    const random: Random = createRandom();
    const dataDir = mkdtempSync(join(tmpdir(), "herald-kill-"));
    const ledgers: Ledger[] = Array.from({ length: SENDERS }, (_, index) => ({ sender: `sender ${index}`, sends: [] }));
    let organizationId = "";
    const cid = "room";
    try {
      for (let round = 0; round < 30; round += 1) {
        await using herald = await startHerald({ dataDir, env: LIFTED });
        if (round === 0) {
          const org = await createOrganization(herald);
          organizationId = org.id;
          await org.conversation(
            ledgers.map((ledger) => ledger.sender),
            cid,
          );
        }
        let isOver = false;
        const sending = Promise.all(
          ledgers.map((ledger) => sendUntilKilled(herald.url, herald.key, organizationId, cid, ledger, () => isOver)),
        );
        // The moment of death: after a number of acknowledgements, and a random moment later. No fixed time means
        // anything here.
        const before = ledgers.reduce((sum, ledger) => sum + ledger.sends.length, 0);
        const wanted = before + random.integer(1, 400);
        while (ledgers.reduce((sum, ledger) => sum + ledger.sends.length, 0) < wanted)
          await Promise.race([Bun.sleep(1), sending]);
        await Bun.sleep(random.integer(0, 15));
        await herald.kill();
        isOver = true;
        await sending;
      }

      await using herald = await startHerald({ dataDir, env: LIFTED });
      const org = await createOrganization(herald, organizationId);
      const history: Message[] = (await org.history(cid)).reverse();
      const positions = new Map(history.map((message, index) => [message._id, index]));
      expect({ seed: random.seed, stored: positions.size }).toEqual({ seed: random.seed, stored: history.length });
      expect({ seed: random.seed, bodies: new Set(history.map((message) => message.body)).size }).toEqual({
        seed: random.seed,
        bodies: history.length,
      });
      let all = 0;
      for (const { sender, sends } of ledgers) {
        const answered = sends.flatMap(({ mid, serverMid }) => (serverMid === undefined ? [] : { mid, serverMid }));
        const acknowledged = answered.map(({ serverMid }) => serverMid);
        const lost = acknowledged.filter((id) => !positions.has(id));
        expect({ seed: random.seed, sender, lost }).toEqual({ seed: random.seed, sender, lost: [] });
        const order = acknowledged.map((id) => positions.get(id) ?? -1);
        expect(order).toEqual([...order].sort((left, right) => left - right));
        expect(order.map((position) => history[position]?.body)).toEqual(answered.map(({ mid }) => mid));
        all += answered.length;
      }
      expect(all).toBeGreaterThan(1_000);
      await herald.stop();
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});

describe("promise 2: a retry makes one message", () => {
  test("even if retries run concurrently, the server is killed among them, and they continue when it is back", async () => {
    const random = createRandom();
    const dataDir = mkdtempSync(join(tmpdir(), "herald-retry-"));
    const answers = new Map<string, Set<string>>();
    let organizationId = "";
    try {
      for (let round = 0; round < 8; round += 1) {
        await using herald = await startHerald({ dataDir, env: LIFTED });
        const org = await createOrganization(herald, organizationId === "" ? undefined : organizationId);
        organizationId = org.id;
        await org.conversation(["alice", "bob"], "room");
        const isLast = round === 7;
        // Every id of this and the earlier rounds, twenty times each, all at once.
        const mids = Array.from({ length: (round + 1) * 4 }, (_, index) => `m-${index}`);
        const sends = mids.flatMap((mid) =>
          Array.from({ length: 20 }, async () => {
            const answer = await org
              .send("alice", {
                id: mid,
                cid: "room",
                body: mid,
                attachments: [{ name: mid, size: 1, content_type: "text/plain" }],
              })
              .catch(() => undefined);
            if (answer === undefined) return;
            expect(answer.status).toBe(201);
            answers.set(mid, (answers.get(mid) ?? new Set()).add(answer.text));
          }),
        );
        if (!isLast) {
          await Promise.race(sends.slice(0, random.integer(1, sends.length)));
          await Bun.sleep(random.integer(0, 10));
          await herald.kill();
        }
        await Promise.all(sends);
        if (!isLast) continue;
        for (const mid of mids)
          expect({ seed: random.seed, mid, answers: answers.get(mid)?.size }).toEqual({
            seed: random.seed,
            mid,
            answers: 1,
          });
        const history = await org.history("room");
        expect(history.map((message) => message.body).sort()).toEqual([...mids].sort());
        for (const message of history) expect([...(answers.get(message.body) ?? [])][0]).toContain(message._id);
        await herald.stop();
      }
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
