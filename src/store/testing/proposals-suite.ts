import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import type { NewSend } from "../ports.ts";
import type { Decision, NewProposal, Proposal, ProposalPage } from "../proposals/ports.ts";
import type { Decided } from "../schedule/ports.ts";
import { messageOf, type OpenDatabase, openStore, useStore } from "./log-suite.ts";

const mebibyte = 1024 * 1024;
const hour = 3_600_000;

/** Tests the ports `ProposalReads` and `ProposalWrites`, for every engine. */
export function describeProposals(engine: string, open: OpenDatabase): void {
  describe(`proposals on ${engine}`, () => {
    const context = useStore(open);
    const now = Date.now();
    const decision: Decision = { by: "person", reason: "fine", now };
    const base: ProposalPage = { state: undefined, keyId: undefined, after: undefined, limit: 10, maxBytes: mebibyte };

    const wishOf = (change: Partial<NewProposal> = {}): NewProposal => ({
      id: "one",
      kind: "message",
      cid: "c1",
      sender: "u1",
      request: '{"a":1}',
      fingerprint: "f",
      reason: "why",
      keyId: "agent",
      createdAt: now,
      expiresAt: now + hour,
      mostWaiting: 100,
      ...change,
    });

    async function put(org: string, change: Partial<NewProposal> = {}): Promise<Proposal> {
      const put = await context.store.proposals.put(org, wishOf(change));
      if (put.outcome !== "done") throw new Error(put.outcome);
      return put.proposal;
    }

    const entryOf = (org: string, id = "one", change: Partial<NewSend> = {}): Decided => {
      const send = messageOf(org, { createdAt: now + 1, mid: undefined, ...change });
      return { id, tryId: `try-${id}`, send, serverMid: send.id };
    };
    const find = async (org: string, id = "one") => (await context.store.proposals.find(org, id)).found;
    const bytesOf = async (org: string) => (await context.store.organizations.budgets([org]))[0]?.storedBytes ?? 0;
    const eventsOf = async (org: string) =>
      (await context.store.log.readAfter(org, 1, 100, mebibyte)).map(({ id }) => id);

    test("are kept as they were given, once for each id, with the time of the database", async () => {
      const org = await context.createOrganization();
      const stored = await put(org);
      const { mostWaiting: _, cid: __, ...given } = wishOf();
      const undecided = { decidedBy: null, decisionReason: null, endedAt: null };
      const unsent = { serverMid: null, problem: null, tryId: null };
      expect(stored).toEqual({ ...given, state: "waiting", ...undecided, ...unsent });
      const { now: time, found } = await context.store.proposals.find(org, "one");
      expect(found).toEqual(stored);
      expect(Math.abs(time - Date.now())).toBeLessThan(60_000);
      const other = await context.store.proposals.put(org, wishOf({ request: "{}", fingerprint: "g" }));
      expect(other).toEqual({ outcome: "found", proposal: stored });
      expect(await find(org, "two")).toBeUndefined();
      expect(await context.store.proposals.put("nowhere", wishOf())).toEqual({ outcome: "missing" });
    });

    test("are sent in one commit with the note of it, which is announced", async () => {
      const org = await context.createOrganization(["u1"]);
      await put(org);
      const entry = entryOf(org);
      const serverMid = "serverMid" in entry ? entry.serverMid : "";
      context.announced.length = 0;
      const outcome = await context.store.proposals.approve(org, entry, decision);
      expect(outcome).toEqual({ proposal: (await find(org)) as Proposal, isNew: true });
      expect(outcome?.proposal).toMatchObject({
        state: "approved",
        request: null,
        reason: "why",
        decidedBy: "person",
        decisionReason: "fine",
        endedAt: now + 1,
        serverMid,
        tryId: "try-one",
      });
      expect(await eventsOf(org)).toEqual([serverMid]);
      expect(context.announced.map(({ id }) => id)).toEqual([serverMid]);
    });

    test("are sent once or rejected, however many decide at once", async () => {
      const org = await context.createOrganization(["u1"]);
      const { proposals } = context.store;
      for (let round = 0; round < 6; round++) {
        const id = `${round}`;
        await put(org, { id });
        const decided = await Promise.all(
          Array.from({ length: 8 }, (_, n) =>
            n === round ? proposals.reject(org, id, decision) : proposals.approve(org, entryOf(org, id), decision),
          ),
        );
        const [first, ...more] = decided.filter((outcome) => outcome !== undefined);
        expect(more).toEqual([]);
        expect(first?.isNew).toBe(first?.proposal.state === "approved");
      }
      const { items } = await proposals.list(org, { ...base, state: "approved" });
      expect((await eventsOf(org)).sort()).toEqual(items.map(({ serverMid }) => serverMid ?? "").sort());
    });

    test("fail as the log refuses them, and a retry of a send is approved as that", async () => {
      const org = await context.createOrganization(["u1"]);
      const { proposals } = context.store;
      for (const id of ["one", "two"]) await put(org, { id });
      const stranger = { org, kind: "message" as const, sender: "stranger", cid: "c1" };
      const failed = await proposals.approve(org, entryOf(org, "one", { sender: "stranger" }), decision);
      expect(failed).toMatchObject({ isNew: false, proposal: { state: "failed", serverMid: null, endedAt: now } });
      const failure = { outcome: "refused", missing: "participant", of: stranger };
      expect(JSON.parse(failed?.proposal.problem ?? "")).toEqual(failure);
      const earlier = messageOf(org, { mid: "m", fingerprint: "f" });
      await context.store.sends.append(earlier);
      const retry = await proposals.approve(org, entryOf(org, "two", { mid: "m", fingerprint: "f" }), decision);
      expect(retry).toMatchObject({ isNew: false, proposal: { state: "approved", serverMid: earlier.id } });
      expect(await eventsOf(org)).toEqual([earlier.id]);
    });

    test("cannot be decided once their time is over by the database's clock, nor by a key that has ended", async () => {
      const org = await context.createOrganization(["u1"]);
      const { proposals } = context.store;
      await put(org, { expiresAt: now - 1 });
      await put(org, { id: "two" });
      expect(await proposals.approve(org, entryOf(org), decision)).toBeUndefined();
      expect(await proposals.reject(org, "one", decision)).toBeUndefined();
      const gone = { id: createId(), org: null, digest: "d", now };
      const late = proposals.approve(org, entryOf(org, "two"), decision, gone);
      expect(await late.catch((error: { code: string }) => error.code)).toBe("unauthorized");
      expect([(await find(org, "two"))?.state, await eventsOf(org)]).toEqual(["waiting", []]);
    });

    test("are listed by time and id, by state and key, in pages", async () => {
      const org = await context.createOrganization(["u1"]);
      const { proposals } = context.store;
      for (const [id, after] of Object.entries({ c: 3, a: 1, b: 1, d: 4 }))
        await put(org, { id, expiresAt: now + hour + after, keyId: id === "b" ? "rival" : "agent" });
      await put(org, { id: "x", expiresAt: now - 1 });
      await proposals.approve(org, entryOf(org, "a"), decision);
      const list = async (change: Partial<ProposalPage>) => {
        const { items, hasMore } = await proposals.list(org, { ...base, ...change });
        return [items.map(({ id }) => id).join(""), hasMore];
      };
      expect(await list({})).toEqual(["xabcd", false]);
      expect(await list({ limit: 2 })).toEqual(["xa", true]);
      expect(await list({ limit: 2, after: { expiresAt: now + hour + 1, id: "b" } })).toEqual(["cd", false]);
      expect(await list({ state: "waiting" })).toEqual(["bcd", false]);
      expect(await list({ state: "waiting", keyId: "agent" })).toEqual(["cd", false]);
      expect(await list({ keyId: "rival" })).toEqual(["b", false]);
      expect([await list({ state: "approved" }), await list({ state: "expired" })]).toEqual([
        ["a", false],
        ["x", false],
      ]);
      expect(await list({ state: "waiting", maxBytes: 1 })).toEqual(["b", true]);
    });

    test("count as stored while they wait, and only so many wait of one organization", async () => {
      const org = await context.createOrganization(["u1"]);
      const { proposals } = context.store;
      const before = await bytesOf(org);
      const add = async (id: string) =>
        (await proposals.put(org, wishOf({ id, request: "x".repeat(100), mostWaiting: 2 }))).outcome;
      expect([await add("a"), await add("b"), await add("c")]).toEqual(["done", "done", "too_many"]);
      expect((await bytesOf(org)) - before).toBe(200);
      await proposals.reject(org, "a", decision);
      expect((await bytesOf(org)) - before).toBe(100);
      expect(await add("d")).toBe("done");
      const entry = entryOf(org, "b");
      await proposals.approve(org, entry, decision);
      const sent = "send" in entry ? Buffer.byteLength(entry.send.payload) : 0;
      expect((await bytesOf(org)) - before).toBe(100 + sent);
    });

    test("are removed with all others of their sender, step by step, whatever became of them", async () => {
      const org = await context.createOrganization(["u1", "u2"]);
      const before = await bytesOf(org);
      for (const id of ["a", "b", "c"]) await put(org, { id });
      await put(org, { id: "d", sender: "u2" });
      const { proposals } = context.store;
      await proposals.reject(org, "b", decision);
      const step = () => proposals.removeSome(org, { sender: "u1", limit: 2 });
      expect([await step(), await step(), await step()]).toEqual([2, 1, 0]);
      expect((await proposals.list(org, base)).items.map(({ id }) => id)).toEqual(["d"]);
      expect((await bytesOf(org)) - before).toBe(wishOf().request.length);
      expect(await proposals.removeSome("nowhere", { sender: "u1", limit: 2 })).toBe(0);
    });

    test("end with their organization, and one created again begins without them", async () => {
      const org = await context.createOrganization(["u1"]);
      const { organizations, proposals } = context.store;
      await put(org);
      await organizations.remove(org, now);
      expect(await find(org)).toBeUndefined();
      expect(await proposals.put(org, wishOf({ id: "two" }))).toEqual({ outcome: "missing" });
      expect(await proposals.approve(org, entryOf(org), decision)).toBeUndefined();
      await organizations.put(org, undefined, now + 1);
      expect((await proposals.list(org, base)).items).toEqual([]);
      await put(org);
    });

    test("lose their content when their time is over, and go with the ids of sends, step by step", async () => {
      const { store, dispose } = await openStore(open);
      const { organizations, proposals, retention } = store;
      for (const org of ["o1", "o2"]) {
        await organizations.put(org, undefined, 1);
        for (const [id, after] of Object.entries({ a: 1, b: 2, c: 3, d: hour }))
          await proposals.put(org, wishOf({ id, expiresAt: now + after }));
      }
      const storedOf = async (org: string) => (await organizations.budgets([org]))[0]?.storedBytes;
      const kept = { messagesBefore: undefined, auditBefore: undefined, revocationsBefore: undefined };
      const order = { holder: "n1", leaseMs: 1, limit: 2, deletedBefore: 0, readsBefore: undefined, ...kept };
      let at = now + 10;
      const step = (idsBefore?: number) => retention.step({ ...order, idsBefore, now: at++ });
      expect([await step(), await step(), await step(), await step(), await step()]).toEqual([2, 2, 1, 1, 0]);
      for (const org of ["o1", "o2"]) {
        const states = (await proposals.list(org, base)).items.map(({ id, state, request }) => [id, state, request]);
        const gone = ["a", "b", "c"].map((id) => [id, "expired", null]);
        expect(states).toEqual([...gone, ["d", "waiting", wishOf().request]]);
        expect((await proposals.find(org, "b")).found?.endedAt).toBe(now + 2);
        expect(await storedOf(org)).toBe(wishOf().request.length);
      }
      expect([await step(now + 3), await step(now + 3), await step(now + 3)]).toEqual([2, 2, 0]);
      expect((await proposals.list("o1", base)).items.map(({ id }) => id)).toEqual(["c", "d"]);
      await dispose();
    });

    test("know which keys were made by which, even if those between have ended", async () => {
      const { keys } = context.store;
      const rights = { scopes: [], org: null, senders: null, networks: null, expiresAt: null };
      const create = async (createdBy?: string) => {
        const id = createId();
        await keys.create({ ...rights, id, name: "k", digest: "d", pepper: "p", createdAt: 1, createdBy });
        return id;
      };
      const first = await create("bootstrap");
      const second = await create(first);
      const third = await create(second);
      const stranger = await create();
      await keys.revoke(second, 2);
      expect([await keys.isMadeBy(third, first), await keys.isMadeBy(third, "bootstrap")]).toEqual([true, true]);
      expect([await keys.isMadeBy(first, third), await keys.isMadeBy(third, third)]).toEqual([false, false]);
      expect([await keys.isMadeBy(stranger, first), await keys.isMadeBy("bootstrap", first)]).toEqual([false, false]);
    });
  });
}
