import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createId } from "../../lib/ids.ts";
import type { NewSend } from "../ports.ts";
import { messageOf, type OpenDatabase, openStore } from "./log-suite.ts";

const noLimits = { requestsPerSecond: null, messagesPerSecond: null, connections: null, storedBytes: null };

/** What every engine must keep of what organizations may use, and use: `OrganizationReads.budgets`. */
export function describeBudgets(engine: string, open: OpenDatabase): void {
  describe(`the budgets of organizations on ${engine}`, () => {
    let context: Awaited<ReturnType<typeof openStore>>;
    let orgs = 0;

    beforeAll(async () => {
      context = await openStore(open);
    });
    afterAll(async () => {
      await context.dispose();
    });

    const nextId = () => `budget-${++orgs}`;
    const budgetOf = async (org: string) => (await context.store.organizations.budgets([org, "nowhere"]))[0];
    const storedBytesOf = async (org: string) => (await budgetOf(org))?.storedBytes;

    async function createOrganization(): Promise<string> {
      const org = nextId();
      await context.store.organizations.put(org, undefined, 1);
      await context.store.conversations.put(org, "c1", { participants: ["u1", "u2"] }, 1);
      return org;
    }

    /** The bytes of the events that are there, counted one by one. */
    async function countBytes(org: string): Promise<number> {
      const events = await context.store.log.readAfter(org, 0, 10_000);
      const texts = events.flatMap(({ payload, uids }) => [payload, uids === undefined ? "" : JSON.stringify(uids)]);
      return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    }

    const send = (org: string, change: Partial<NewSend> = {}) =>
      context.store.sends.append(messageOf(org, { id: createId(), ...change }));

    test("have a limit for each thing, null until it is set; what is left out stays, null takes it back", async () => {
      const { organizations } = context.store;
      const org = nextId();
      await organizations.put(org, "Acme", 1, { connections: 5 });
      expect(await budgetOf(org)).toEqual({ id: org, limits: { ...noLimits, connections: 5 }, storedBytes: 0 });
      await organizations.put(org, undefined, 2, { requestsPerSecond: 0, storedBytes: Number.MAX_SAFE_INTEGER });
      await organizations.put(org, "Other", 3);
      expect((await budgetOf(org))?.limits).toEqual({
        requestsPerSecond: 0,
        messagesPerSecond: null,
        connections: 5,
        storedBytes: Number.MAX_SAFE_INTEGER,
      });
      await organizations.put(org, undefined, 4, { connections: null, messagesPerSecond: 7 });
      expect((await budgetOf(org))?.limits).toMatchObject({ connections: null, messagesPerSecond: 7 });
      expect(await organizations.budgets(["nowhere"])).toEqual([]);
    });

    test("count the bytes of every event: payloads, and the users that system messages are for; retries not twice", async () => {
      const org = await createOrganization();
      expect(await storedBytesOf(org)).toBe(await countBytes(org));
      await Promise.all(Array.from({ length: 20 }, (_, index) => send(org, { payload: `{"é":${index}}` })));
      const retried: Partial<NewSend> = { mid: "m1", fingerprint: "f", payload: '{"body":"twice"}' };
      await send(org, retried);
      await send(org, retried);
      await send(org, { kind: "system", cid: undefined, sender: "u1", uids: ["u1", "ü2"], payload: "{}" });
      expect(await countBytes(org)).toBeGreaterThan(200);
      expect(await storedBytesOf(org)).toBe(await countBytes(org));
    });

    test("of an organization that was deleted are gone; made again it begins empty, with the limits that it had", async () => {
      const { organizations } = context.store;
      const org = await createOrganization();
      await organizations.put(org, undefined, 2, { storedBytes: 1_000 });
      await send(org);
      await organizations.remove(org, 3);
      expect(await budgetOf(org)).toBeUndefined();
      await organizations.put(org, undefined, 4);
      expect(await budgetOf(org)).toMatchObject({ limits: { storedBytes: 1_000 }, storedBytes: await countBytes(org) });
      await context.store.users.put(org, "u1", undefined, 5);
      await send(org, { kind: "system", cid: undefined, sender: "u1", uids: ["u1"] });
      expect(await storedBytesOf(org)).toBe(await countBytes(org));
    });
  });
}
