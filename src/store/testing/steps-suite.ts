import { describe, expect, test } from "bun:test";
import type { MembershipChange } from "../../contract/log/control-events.ts";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { rowsOfStep } from "../../lib/queues/steps.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";

const mebibyte = 1024 * 1024;

const steps = 8;
const senders = 4;
const many = steps * rowsOfStep;
const uidsOf = (prefix: string, count = many) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const change = ({ payload }: LogEvent): MembershipChange => JSON.parse(payload);

/** Tests changes of the directory that are too large for one transaction, for every engine. */
export function describeSteps(engine: string, open: OpenDatabase): void {
  describe(`a large change of the directory on ${engine}`, () => {
    const context = useStore(open);

    const createOrganization = () => context.createOrganization();

    /** The participants by their list, which must agree with the events of the log. */
    async function participantsOf(org: string, cid: string): Promise<string[]> {
      const { participants, log } = context.store;
      const listed: string[] = [];
      for (let page = await participants.list(org, cid, { after: undefined, limit: 1_000 }); page.length > 0; ) {
        listed.push(...page.map(({ id }) => id));
        page = await participants.list(org, cid, { after: listed.at(-1), limit: 1_000 });
      }
      const told = new Set<string>();
      for (let events = await log.readAfter(org, 0, 100, mebibyte); events.length > 0; ) {
        for (const event of events.filter((each) => each.kind === "membership" && each.cid === cid)) {
          const { added, removed } = change(event);
          expect(added.length + removed.length).toBeLessThanOrEqual(2 * rowsOfStep);
          for (const uid of removed) expect(told.delete(uid)).toBe(true);
          for (const uid of added) expect(told.has(uid) || !told.add(uid)).toBe(false);
        }
        events = await log.readAfter(org, events.at(-1)?.offset ?? 0, 100, mebibyte);
      }
      expect([...told].sort()).toEqual(listed.toSorted());
      return listed.sort();
    }

    /**
     * Runs `work` while another organization sends continuously, and counts the events between its first and last: none
     * if it is one transaction. The number depends on the machine, which may give all its time to the writing thread.
     */
    async function countBetween(org: string, work: () => Promise<unknown>) {
      const { store, announced } = context;
      const other = await createOrganization();
      await store.conversations.put(other, "c1", { participants: ["u1"] }, 1);
      const send = () => store.sends.append(messageOf(other));
      await Promise.all(Array.from({ length: senders }, send)); // the first sends read what later ones know
      const start = announced.length;
      let isOver = false;
      const done = work().finally(() => {
        isOver = true;
      });
      const sendOnAndOn = async () => {
        while (!isOver) await send();
      };
      await Promise.all(Array.from({ length: senders }, sendOnAndOn));
      await done;
      const heard = announced.slice(start);
      const isOurs = (event: LogEvent) => event.org === org;
      const span = heard.slice(heard.findIndex(isOurs), heard.findLastIndex(isOurs));
      return { own: heard.filter(isOurs).length, others: span.filter((event) => !isOurs(event)).length };
    }

    test("lets another organization send between its steps, each of which reports who joined and left", async () => {
      const { store } = context;
      const org = await createOrganization();
      const joined = await countBetween(org, () => store.conversations.put(org, "c", { participants: uidsOf("a") }, 2));
      expect(joined.own).toBeWithin(steps, 3 * steps + 3); // steps are smaller on PostgreSQL
      expect(joined.others).toBeGreaterThanOrEqual(2);
      expect(await participantsOf(org, "c")).toEqual(uidsOf("a").sort());

      const next = [...uidsOf("a").slice(0, 10), ...uidsOf("b")];
      const replaced = await countBetween(org, () => store.conversations.put(org, "c", { participants: next }, 3));
      expect(replaced.others).toBeGreaterThanOrEqual(2);
      expect(await participantsOf(org, "c")).toEqual(next.toSorted());
      expect(await store.conversations.put(org, "c", { participants: next }, 4)).toMatchObject({ isNew: false });

      const removed = await countBetween(org, () => store.conversations.remove(org, "c", 5));
      expect(removed.others).toBeGreaterThanOrEqual(2);
      expect(await store.conversations.get(org, "c")).toBeUndefined();
      expect(await participantsOf(org, "c")).toEqual([]);
    });

    test("leaves exactly one of several sets put at the same time, small ones included", async () => {
      const { store } = context;
      const org = await createOrganization();
      const sets = [uidsOf("a"), uidsOf("b"), uidsOf("c", 3)];
      for (const delays of [
        [0, 0, 0],
        [0, 3, 6],
        [2, 0, 9],
      ]) {
        await Promise.all(
          sets.map(async (participants, index) => {
            for (let send = 0; send < (delays[index] ?? 0); send++)
              await store.users.put(org, `u${send}`, undefined, 1);
            await store.conversations.put(org, "c", { participants }, 2);
          }),
        );
        const found = await participantsOf(org, "c");
        expect(sets.map((set) => set.toSorted())).toContainEqual(found);
        const all = await store.conversations.get(org, "c");
        expect(all?.id).toBe("c");
      }
    });

    test("stops if the conversation is deleted meanwhile, and starts anew if it is created again", async () => {
      const { store } = context;
      const org = await createOrganization();
      const put = store.conversations.put(org, "c", { participants: uidsOf("a") }, 2);
      await store.users.put(org, "u", undefined, 1);
      expect(await store.conversations.remove(org, "c", 3)).toBe(true);
      expect((await put)?.isNew).toBe(true);
      expect(await store.conversations.get(org, "c")).toBeUndefined();
      expect(await participantsOf(org, "c")).toEqual([]);
      await store.conversations.put(org, "c", { participants: ["a1"] }, 4);
      expect(await participantsOf(org, "c")).toEqual(["a1"]);
    });

    test("removes a user from many conversations in steps", async () => {
      const { store } = context;
      const org = await createOrganization();
      const cids = Array.from({ length: 3 * rowsOfStep + 5 }, (_, index) => `c${index}`);
      for (let index = 0; index < cids.length; index += 100)
        await Promise.all(
          cids
            .slice(index, index + 100)
            .map((cid) => store.conversations.put(org, cid, { participants: ["u", "v"] }, 2)),
        );
      const { others } = await countBetween(org, async () => {
        expect(await store.users.remove(org, "u", 3)).toBe(true);
      });
      expect(others).toBeGreaterThanOrEqual(1);
      expect(await store.users.get(org, "u")).toBeUndefined();
      expect((await store.standing.snapshot(org, "u"))?.cids).toEqual([]);
      expect((await store.standing.snapshot(org, "v"))?.cids).toHaveLength(cids.length);
    });
  });
}
