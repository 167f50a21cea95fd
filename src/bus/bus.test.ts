import { afterAll, describe, expect, test } from "bun:test";
import { within } from "../../test/harness/deadline.ts";
import { startNats } from "../../test/harness/nats.ts";
import type { LogEvent } from "../contract/log-event.ts";
import type { Bus, Hint } from "./bus.ts";
import { createLocalBus } from "./local.ts";
import { createNatsBus } from "./nats.ts";

const event = (org: string, offset: number, payload = "{}"): LogEvent => ({
  org,
  offset,
  kind: "message",
  id: `e${offset}`,
  cid: "c",
  payload,
  uids: undefined,
});

/** Collects what a subscription hears; `take` waits for that many. */
function collect() {
  const hints: Hint[] = [];
  let wake = () => {};
  return {
    handler(hint: Hint) {
      hints.push(hint);
      wake();
    },
    async take(count: number): Promise<number[]> {
      while (hints.length < count) await within(new Promise<void>((resolve) => (wake = resolve)), `${count} hints`);
      return hints.splice(0).map(({ offset }) => offset);
    },
    hints,
  };
}

/** What every bus must do. `open` resolves when the bus is joined. */
function describeBus(name: string, open: () => Promise<Bus>): void {
  describe(`the bus ${name}`, () => {
    test("brings what is published after a subscription to each subscriber of the organization, in order", async () => {
      const bus = await open();
      const [one, two, other] = [collect(), collect(), collect()];
      await bus.subscribe("o", one.handler);
      await bus.subscribe("o", two.handler);
      await bus.subscribe("p", other.handler);
      bus.publish([event("o", 1), event("o", 2), event("p", 7), event("o", 3)]);
      expect(await one.take(3)).toEqual([1, 2, 3]);
      expect(await two.take(3)).toEqual([1, 2, 3]);
      expect(await other.take(1)).toEqual([7]);
      await bus.close();
    });

    test("keeps organizations apart whatever their ids look like", async () => {
      const bus = await open();
      const ids = ["*", ">", "a.b", "a", "a.>", " ", "😀", "A"];
      const heard = ids.map(() => collect());
      for (const [index, id] of ids.entries()) await bus.subscribe(id, heard[index]?.handler ?? (() => {}));
      bus.publish(ids.map((id, index) => event(id, index + 1)));
      for (const [index, one] of heard.entries()) expect(await one.take(1)).toEqual([index + 1]);
      await bus.close();
    });

    test("brings events as they were, and nothing after the subscription has ended", async () => {
      const bus = await open();
      const [one, witness] = [collect(), collect()];
      const end = await bus.subscribe("o", one.handler);
      await bus.subscribe("o", witness.handler);
      const sent = { ...event("o", 1, '{"message":{"body":"zoë 😀"}}'), uids: ["a", "b"] };
      bus.publish([sent]);
      await one.take(1).then(() => witness.take(1));
      end();
      bus.publish([event("o", 2)]);
      expect(await witness.take(1)).toEqual([2]);
      expect(one.hints).toEqual([]);
      await bus.close();
    });
  });
}

describeBus("of one node", async () => createLocalBus());

const nats = await startNats();
if (nats !== undefined) {
  afterAll(() => nats.stop());

  const join = () =>
    new Promise<Bus>((resolve, reject) => {
      const bus = createNatsBus({ url: nats.url, onConnect: () => resolve(bus), onError: reject });
    });
  describeBus("on NATS", join);

  describe("the bus on NATS", () => {
    test("tells the offset alone of an event that is too large to send", async () => {
      const bus = await join();
      const one = collect();
      await bus.subscribe("o", one.handler);
      bus.publish([event("o", 1, "x".repeat(600_000)), event("o", 2)]);
      while (one.hints.length < 2) await Bun.sleep(1);
      expect(one.hints[0]).toEqual({ org: "o", offset: 1 });
      expect(one.hints[1]).toMatchObject({ offset: 2, payload: "{}" });
      await bus.close();
    });

    test("is joined when it comes up, and joined again when it was away, with all subscriptions", async () => {
      let connects = 0;
      let wake = () => {};
      let bus: Bus | undefined;
      const one = collect();
      await nats.outage(async () => {
        const onConnect = () => {
          connects++;
          wake();
        };
        bus = createNatsBus({ url: nats.url, onConnect, onError: () => undefined });
        await bus.subscribe("o", one.handler);
        bus.publish([event("o", 1)]); // lost, and no error
      });
      const connected = async (count: number) => {
        while (connects < count) await within(new Promise<void>((resolve) => (wake = resolve)), "a connection to NATS");
      };
      await connected(1);
      await nats.outage(async () => undefined);
      await connected(2);
      while (one.hints.length === 0) {
        bus?.publish([event("o", 2)]);
        await Bun.sleep(5);
      }
      expect(one.hints[0]?.offset).toBe(2);
      await bus?.close();
    });
  });
}
