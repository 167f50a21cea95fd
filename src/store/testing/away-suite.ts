import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import { deliveryOf } from "./delivery-suite.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";

/** Tests what `UnreachedReads` tell of users whose clients were in the background, for every engine. */
export function describeAway(engine: string, open: OpenDatabase): void {
  describe(`users who were away on ${engine}`, () => {
    const context = useStore(open);

    async function send(org: string): Promise<{ org: string; id: string; offset: number }> {
      const id = createId();
      const outcome = await context.store.sends.append(messageOf(org, { id, mid: id }));
      if (outcome.outcome !== "stored") throw new Error(`the message was ${outcome.outcome}`);
      return { org, id, offset: outcome.offset };
    }

    test("who was away is told of who has an event, unless a node gave it to an active connection", async () => {
      const { store } = context;
      const org = await context.createOrganization(["u1", "u2", "u3"]);
      const events = [await send(org), await send(org)];
      const [first, second] = events.map(({ offset }) => offset) as [number, number];
      const of = (kind: "delivery" | "away", offset: number, uids: string[]) =>
        deliveryOf(org, offset, { id: createId(), kind, audience: undefined, uids, plays: [[offset, 1, 1]] });
      await store.deliveries.record({
        audiences: [],
        deliveries: [
          of("delivery", first, ["u1", "u2", "u3"]),
          of("away", first, ["u2", "u3"]),
          of("delivery", first, ["u2"]), // on another node
          of("delivery", second, ["u1", "u2"]),
          of("delivery", second, ["u1"]),
          of("away", second, ["u1"]),
          of("away", second, ["u1"]),
        ],
      });
      const fates = await store.unreached.fates(await store.unreached.events(events));
      const awayOf = ({ id }: { id: string }) => [...(fates.get(id)?.away ?? [])];
      expect(events.map(awayOf)).toEqual([["u3"], ["u1"]]);
      for (const { id, offset } of events) {
        const found = await store.deliveries.of(org, "c1", offset);
        const delivered = new Set(found.flatMap(({ uids }) => uids));
        expect(fates.get(id)?.delivered).toEqual(delivered);
        expect(found.filter(({ kind }) => kind === "away")).toEqual([]);
      }
    });
  });
}
