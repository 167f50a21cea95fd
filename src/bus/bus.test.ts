import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import { eventually, within } from "../../test/harness/deadline.ts";
import { freePort } from "../../test/harness/engines/free-port.ts";
import { startNats } from "../../test/harness/engines/nats.ts";
import { createId } from "../lib/text/ids.ts";
import type { DeliveryNews, NodesBus, TypingNote } from "./bus.ts";
import { createLocalBus } from "./local.ts";
import {
  busesOn,
  busesOnBroker,
  collect,
  createWatcher,
  echo,
  event,
  someNews,
  watchQuestion,
} from "./testing/bus-setup.ts";

/** Tests the port `Bus`. `open` resolves once the bus is connected. */
function describeBus(name: string, open: (nodeId?: string) => Promise<NodesBus>): void {
  describe(`the bus ${name}`, () => {
    test("delivers what is published after a subscription to each subscriber of the organization, in order", async () => {
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

    test("delivers events unchanged, and none after the subscription has ended", async () => {
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

    test("delivers a question to the asking node like to any other, and its answer under the node's id", async () => {
      const id = createId();
      const bus = await open(id);
      bus.respond(echo);
      for (const question of [
        { org: "o", uids: ["zoë 😀", "*"] },
        { org: "p.>", after: "u1", limit: 3 },
      ]) {
        const answers = await bus.request(question, [id]);
        expect([...answers]).toEqual([[id, echo(question)]]);
      }
      await bus.close();
    });

    test("tells those who follow a user of that user alone, and nobody once they have stopped", async () => {
      const bus = await open();
      const users = ["*", ">", "a.b", "a", " ", "😀"].map((uid) => ({ org: "zoë 😀", uid }));
      const heard: string[] = [];
      const stops = users.map((user) => bus.followActivity(user, () => heard.push(user.uid)));
      bus.followActivity({ org: "other", uid: "a" }, () => heard.push("of another organization"));
      let onLast = () => {};
      bus.followActivity({ org: "o", uid: "last" }, () => onLast());
      for (const expected of [users.map(({ uid }) => uid), []]) {
        for (const user of users) bus.tellActivity(user);
        const last = new Promise<void>((resolve) => (onLast = resolve));
        bus.tellActivity({ org: "o", uid: "last" }); // heard in order
        await last;
        expect(heard.splice(0)).toEqual(expected);
        for (const stop of stops) stop();
      }
      await bus.close();
    });

    test("tells those who follow an organization who types in it, and nobody once they have stopped", async () => {
      const bus = await open();
      const note = (org: string, from = "*"): TypingNote => ({
        org,
        cid: "a.> 😀",
        from,
        status: "stop",
        t: 1_763_643_960,
      });
      const heard: TypingNote[] = [];
      const stop = bus.followTyping("zoë 😀", (one) => heard.push(one));
      let onLast = () => {};
      bus.followTyping("o", () => onLast());
      for (const expected of [[note("zoë 😀"), note("zoë 😀", ">")], []]) {
        for (const one of [note("zoë 😀"), note("other"), note("zoë 😀", ">")]) bus.tellTyping(one);
        const last = new Promise<void>((resolve) => (onLast = resolve));
        bus.tellTyping(note("o")); // heard in order
        await last;
        expect(heard.splice(0)).toEqual(expected);
        stop();
      }
      await bus.close();
    });

    test("begins a watch on the asking node, passes its news on, and ends it", async () => {
      const id = createId();
      const bus = await open(id);
      expect(bus.watch(watchQuestion, () => undefined)).toBeFunction(); // nobody watches yet
      const { watcher, begun, ended } = createWatcher();
      bus.watchWith(watcher);
      const heard: unknown[] = [];
      const end = bus.watch(watchQuestion, (...told) => heard.push(told));
      expect(begun.map(({ question }) => question)).toEqual([watchQuestion]);
      begun[0]?.tell(someNews);
      expect(heard).toEqual([[id, someNews]]);
      end();
      end();
      expect(ended.every((ask) => ask === begun[0]?.id)).toBe(true);
      await bus.close();
    });

    test("returns the available answers if a node does not answer", async () => {
      const id = createId();
      const bus = await open(id);
      bus.respond(echo);
      expect([...(await bus.request({ org: "o", uids: [] }, [id, "gone"])).keys()]).toEqual([id]);
      await bus.close();
    });
  });
}

/** Tests what nodes do for each other. `join` resolves once the bus of a node is connected. */
function describeNodes(name: string, join: (nodeId?: string) => Promise<NodesBus>): void {
  describe(`the bus ${name}`, () => {
    test("sends only the place of an event that is too large", async () => {
      const bus = await join();
      const one = collect();
      await bus.subscribe("o", one.handler);
      bus.publish([event("o", 1, "x".repeat(5_000_000)), event("o", 2)]);
      while (one.hints.length < 2) await Bun.sleep(1);
      expect(one.hints[0]).toEqual({ org: "o", offset: 1, id: "e1", prev: undefined });
      expect(one.hints[1]).toMatchObject({ offset: 2, payload: "{}" });
      await bus.close();
    });

    test("lets every node watch, hears each under its id in order and in parts that fit, and tells it the end", async () => {
      const [one, two] = [await join("one"), await join("two")];
      const [own, other] = [createWatcher(), createWatcher()];
      one.watchWith(own.watcher);
      two.watchWith(other.watcher);
      await two.subscribe("o", () => undefined); // once the server knows this subscription, it knows those before it
      const heard: [node: string, news: DeliveryNews][] = [];
      let wake = () => {};
      const end = one.watch(watchQuestion, (node, news) => {
        heard.push([node, news]);
        wake();
      });
      const watch = await other.next();
      expect([watch.question, watch.id]).toEqual([watchQuestion, own.begun[0]?.id ?? ""]);
      const online = Array.from({ length: 5_000 }, (_, index) => `${"😀".repeat(30)}${index}`);
      watch.tell({ ...someNews, online });
      watch.tell({ ...someNews, acknowledged: ["ann"], isDone: true });
      while (heard.at(-1)?.[1].isDone !== true) await new Promise<void>((resolve) => (wake = resolve));
      expect(new Set(heard.map(([node]) => node))).toEqual(new Set(["two"]));
      expect(heard.flatMap(([, news]) => news.online).slice(0, online.length)).toEqual(online);
      expect(heard.map(([, { isPlayed }]) => isPlayed).indexOf(true)).toBe(heard.length - 2);
      end();
      while (other.ended.length === 0) await Bun.sleep(1);
      expect(other.ended).toEqual([watch.id]);
      await Promise.all([one.close(), two.close()]);
    });

    test("asks every node, and returns once all expected nodes have answered", async () => {
      const ids = [createId(), createId(), createId()];
      const buses = await Promise.all(ids.map((id) => join(id)));
      for (const [index, bus] of buses.entries()) bus.respond(() => echo({ org: "o", uids: [`${index}`] }));
      await Promise.all(buses.map((bus) => bus.subscribe("o", () => undefined))); // also waits until all of its subscriptions are active
      for (const bus of buses) {
        const answers = await bus.request({ org: "o", uids: [] }, ids);
        expect(ids.map((id) => answers.get(id)?.online[0]?.id)).toEqual(["o/0", "o/1", "o/2"]);
      }
      await Promise.all(buses.map((bus) => bus.close()));
    });

    test("tells nodes of the events of organizations that they follow, in order, and of no others", async () => {
      const [one, two] = [await join(), await join()];
      const heard = collect();
      const end = await two.subscribe("o", heard.handler);
      const publish = (from: number, to: number) => {
        for (let offset = from; offset < to; offset++) one.publish([event("p", offset), event("o", offset)]);
      };
      publish(1, 101);
      expect(await heard.take(100)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
      const ended = collect();
      await two.subscribe("q", ended.handler);
      end();
      await two.subscribe("r", () => undefined); // once this is known, so is the end
      one.publish([event("o", 101), event("q", 1)]);
      expect(await ended.take(1)).toEqual([1]);
      expect(heard.hints).toEqual([]);
      await Promise.all([one.close(), two.close()]);
    });
  });
}

describeBus("of one node", async (nodeId = "n") => createLocalBus({ nodeId, guard: (work) => work() }));

describeBus("of a broker", busesOnBroker().join);
describeNodes("of a broker", busesOnBroker().join);

describe("the bus of a broker", () => {
  test("drops what a node does not take in time, tells it once it does, and goes on", async () => {
    const { open } = busesOnBroker();
    const [sender, slow, other] = [open("sender"), open("slow"), open("other")];
    const [heard, witness] = [collect(), collect()];
    await slow.bus.subscribe("o", heard.handler);
    await other.bus.subscribe("o", witness.handler);
    slow.stop();
    const payload = JSON.stringify("x".repeat(1_000_000));
    for (let offset = 1; offset <= 30; offset++) {
      sender.bus.publish([event("o", offset, payload)]);
      await witness.take(1);
    }
    slow.goOn();
    await eventually(() => slow.counts.lost === 1 || undefined, "the node to be told");
    expect(heard.hints.length).toBeWithin(10, 30);
    expect(other.counts.lost).toBe(0);
    sender.bus.publish([event("o", 31)]);
    await eventually(() => heard.hints.at(-1)?.offset === 31 || undefined, "the next event");
  });

  test("is up until the broker is gone, and forgets a node that has ended", async () => {
    const { open } = busesOnBroker();
    const [one, two] = [open("one"), open("two")];
    one.bus.respond(echo);
    two.bus.respond(echo);
    await two.bus.subscribe("o", () => undefined); // once this is known, so is that it answers
    const question = { org: "o", uids: ["ann"] };
    expect([...(await one.bus.request(question, ["one", "two"])).keys()].sort()).toEqual(["one", "two"]);
    two.end();
    expect([...(await one.bus.request(question, ["one"])).keys()]).toEqual(["one"]);
    expect(one.bus.state()).toBe("up");
    one.onGone();
    expect(one.bus.state()).toBe("down");
    await expect(one.bus.request(question, ["one"])).rejects.toMatchObject({ code: "unavailable" });
  });
});

const nats = await startNats();
if (nats !== undefined) {
  afterAll(() => nats.stop());

  const { open: openNatsBus, join } = busesOn(nats.url);
  describeBus("on NATS", (nodeId) => join(nodeId));
  describeNodes("on NATS", (nodeId) => join(nodeId));

  describe("the bus on NATS", () => {
    test("connects once the server is up, and reconnects after an outage, with all subscriptions", async () => {
      let connects = 0;
      let wake = () => {};
      let bus: NodesBus | undefined;
      const one = collect();
      await nats.outage(async () => {
        const onConnect = () => {
          connects++;
          wake();
        };
        bus = openNatsBus({ onConnect });
        await bus.subscribe("o", one.handler);
        bus.publish([event("o", 1)]); // lost without an error
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

    test("refuses questions while it is away, even if it never was there, and delivers them again afterwards", async () => {
      const id = createId();
      const bus = await join(id);
      bus.respond(echo);
      const question = { org: "o", uids: [] };
      await nats.outage(async () => {
        const never = openNatsBus({});
        for (const one of [bus, never])
          await expect(one.request(question, [id])).rejects.toMatchObject({ code: "unavailable" });
        await never.close();
      });
      while ((await bus.request(question, [id]).catch(() => new Map())).size === 0) await Bun.sleep(5);
      await bus.close();
    });

    test("connects once a server that refused it accepts it, at the start and later, with all subscriptions", async () => {
      const folder = mkdtempSync(joinPath(tmpdir(), "herald-nats-"));
      const file = joinPath(folder, "nats.conf");
      const setPassword = (password: string) =>
        writeFileSync(file, `authorization { user: "herald", password: "${password}" }`);
      setPassword("another");
      const guarded = await startNats("-c", file);
      if (guarded === undefined) throw new Error("NATS was there before");
      const happened: string[] = [];
      let wake = () => {};
      const tell = (what: string) => {
        happened.push(what);
        wake();
      };
      const until = async (what: string) => {
        while (!happened.includes(what)) await within(new Promise<void>((resolve) => (wake = resolve)), what);
        happened.length = 0;
      };
      const bus = openNatsBus({
        url: guarded.url.replace("//", "//herald:right@"),
        onConnect: () => tell("joined"),
        onAway: (error) => {
          if (/refuses the connection/.test(String(error))) tell("refused");
        },
        onError: (error) => tell(String(error)),
      });
      const one = collect();
      await bus.subscribe("o", one.handler);
      for (const round of [1, 2]) {
        await until("refused");
        setPassword("right");
        await guarded.outage(async () => undefined);
        await until("joined");
        await bus.subscribe(`round ${round}`, () => undefined); // flushed, so that the other subscription is active, too
        bus.publish([event("o", round)]);
        expect(await one.take(1)).toEqual([round]);
        setPassword("another");
        await guarded.outage(async () => undefined);
      }
      await bus.close();
      await guarded.stop();
      rmSync(folder, { recursive: true });
    }, 60_000);

    test("stops trying to connect once closed", async () => {
      const port = freePort();
      const names: string[] = [];
      let wake = () => {};
      const open = (nodeId: string) => openNatsBus({ url: `nats://127.0.0.1:${port}`, nodeId });
      const closed = open("closed");
      await closed.close();
      using listener = Bun.listen({
        hostname: "127.0.0.1",
        port,
        socket: {
          open: (socket) =>
            void socket.write('INFO {"version":"2.9.0","max_payload":1048576,"proto":1,"headers":true}\r\n'),
          data(socket, data) {
            names.push(/"name":"herald (\w+)"/.exec(data.toString())?.[1] ?? "");
            socket.end("PONG\r\n");
            wake();
          },
        },
      });
      const other = open("open");
      // Both would try equally often. An attempt in progress may still arrive.
      while (names.filter((name) => name === "open").length < 4)
        await within(new Promise<void>((resolve) => (wake = resolve)), "an attempt to connect");
      expect(names.filter((name) => name === "closed").length).toBeLessThanOrEqual(1);
      await other.close();
      listener.stop(true);
    });
  });
}
