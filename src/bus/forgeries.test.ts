import { afterAll, describe, expect, test } from "bun:test";
import { connect } from "@nats-io/transport-node";
import { startNats } from "../../test/harness/engines/nats.ts";
import { logSubject, newsSubject, presenceSubject, typingSubject, watchSubject } from "./subjects.ts";
import {
  busesOn,
  collect,
  createWatcher,
  echo,
  event,
  signerOf,
  someNews,
  watchQuestion,
} from "./testing/bus-setup.ts";

const nats = await startNats();
if (nats !== undefined) {
  afterAll(() => nats.stop());

  const { join } = busesOn(nats.url);

  describe("the bus on NATS, where anybody can publish,", () => {
    test("drops what no node of its database signed, reports it once, and continues", async () => {
      const drops: unknown[] = [];
      const bus = await join("n", { onDrop: (...drop) => drops.push(drop) });
      const one = collect();
      await bus.subscribe("o", one.handler);
      const [stranger, signer] = [await connect({ servers: nats.url }), signerOf("another secret")];
      const good = JSON.stringify({ v: 1, ...event("o", 1) });
      const unsigned = ["{", "", "null", "{}", "[]", good, "x".repeat(1_000_000)];
      const forged = [
        signer.sign("hint", logSubject("o"), good) ?? "",
        `${good.slice(0, -1)},"mac":"${"A".repeat(22)}"}`,
      ];
      for (const text of [...unsigned, ...forged]) stranger.publish(logSubject("o"), text);
      for (const odd of [`${logSubject("o")}.x`, "herald.log", "herald.log.*.x"])
        stranger.publish(odd.replace("*", "y"), good);
      await stranger.flush();
      bus.publish([event("o", 7)]);
      expect(await one.take(1)).toEqual([7]);
      expect(drops).toEqual([["unsigned", logSubject("o")]]);
      expect(bus.dropped).toEqual({ unsigned: unsigned.length, forged: forged.length, unreadable: 0, repeated: 0 });
      await stranger.close();
      await bus.close();
    });

    test("accepts what is signed with any known secret, and drops what it cannot read of a later version", async () => {
      const [old, rotated] = [
        await join("old"),
        await join("new", { signer: signerOf("the secret of these nodes", "the next") }),
      ];
      const one = collect();
      await rotated.subscribe("o", one.handler);
      old.publish([event("o", 1)]);
      expect(await one.take(1)).toEqual([1]);
      const later = signerOf("the next").sign("hint", logSubject("o"), '{"v":2,"org":"o"}') ?? "";
      const stranger = await connect({ servers: nats.url });
      stranger.publish(logSubject("o"), later);
      await stranger.flush();
      await stranger.close();
      old.publish([event("o", 2)]);
      expect(await one.take(1)).toEqual([2]);
      expect(rotated.dropped).toMatchObject({ forged: 0, unreadable: 1 });
      await Promise.all([old.close(), rotated.close()]);
    });

    test("takes an unsigned hint for a nudge while live nodes do not sign, and trusts nothing in it", async () => {
      const unsigning = new Set(["old"]);
      const bus = await join("n", { unsigning: () => unsigning });
      const one = collect();
      await bus.subscribe("o", one.handler);
      const stranger = await connect({ servers: nats.url });
      stranger.publish(logSubject("o"), JSON.stringify(event("o", 1)));
      expect(await one.take(1)).toEqual([undefined]);
      unsigning.clear();
      stranger.publish(logSubject("o"), JSON.stringify(event("o", 2)));
      await stranger.flush();
      bus.publish([event("o", 3)]);
      expect(await one.take(1)).toEqual([3]);
      await stranger.close();
      await bus.close();
    });

    test("sends and asks nothing until it has a secret", async () => {
      const [bus, witness] = [await join("n", { signer: signerOf() }), await join("w")];
      const one = collect();
      await witness.subscribe("o", one.handler);
      bus.publish([event("o", 1)]);
      await expect(bus.request({ org: "o", uids: [] }, ["n"])).rejects.toMatchObject({ code: "unavailable" });
      witness.publish([event("o", 2)]);
      expect(await one.take(1)).toEqual([2]);
      await Promise.all([bus.close(), witness.close()]);
    });

    test("answers nobody who cannot sign, and no question twice; trusts no answer that is not to its own question", async () => {
      const bus = await join("n");
      bus.respond(echo);
      const stranger = await connect({ servers: nats.url });
      const question = { org: "o", uids: ["a"] };
      const overheard: { text: string; answer: string }[] = [];
      stranger.subscribe(presenceSubject, {
        callback(_, message) {
          if (overheard.length > 0) return;
          overheard.push({ text: message.string(), answer: "" });
        },
      });
      stranger.subscribe("_INBOX.>", {
        callback(_, message) {
          for (const one of overheard) one.answer ||= message.string();
        },
      });
      await stranger.flush();
      expect([...(await bus.request(question, ["n"])).keys()]).toEqual(["n"]);
      await stranger.flush();
      const [{ text, answer } = { text: "", answer: "" }] = overheard;
      expect(JSON.parse(answer)).toMatchObject({ node: "n" });
      for (const asked of [text, JSON.stringify(question), "{"])
        await expect(stranger.request(presenceSubject, asked, { timeout: 100 })).rejects.toThrow();
      expect(bus.dropped).toEqual({ unsigned: 2, forged: 0, unreadable: 0, repeated: 1 });

      // The stranger answers every further question first: with that answer, and with its own for a nonexistent node.
      stranger.subscribe(presenceSubject, {
        callback(_, message) {
          for (const forgery of [
            answer,
            answer.replaceAll('"n"', '"m"'),
            JSON.stringify({ node: "m", answer: echo(question) }),
          ])
            message.respond(forgery);
        },
      });
      await stranger.flush();
      expect([...(await bus.request({ org: "o", uids: ["b"] }, ["n", "m"])).entries()]).toEqual([
        ["n", echo({ org: "o", uids: ["b"] })],
      ]);
      expect(bus.dropped).toMatchObject({ unsigned: 3, forged: 2 });
      await stranger.close();
      await bus.close();
    });

    test("asks nodes that do not sign yet, answers them, and trusts their answers while they are live", async () => {
      const unsigning = new Set(["old"]);
      const bus = await join("n", { unsigning: () => unsigning });
      bus.respond(echo);
      const old = await connect({ servers: nats.url });
      const question = { org: "o", uids: ["a"] };
      old.subscribe(presenceSubject, {
        callback(_, message) {
          for (const node of ["old", "n", "stranger"])
            message.respond(JSON.stringify({ node, answer: echo({ org: node, uids: ["a"] }) }));
        },
      });
      await old.flush();
      expect([...(await bus.request(question, ["n", "old"])).entries()].sort()).toEqual([
        ["n", echo(question)],
        ["old", echo({ org: "old", uids: ["a"] })],
      ]);
      unsigning.clear();
      expect([...(await bus.request(question, ["n", "old"])).keys()]).toEqual(["n"]);
      await old.close();
      await bus.close();
    });

    test("hears of nobody who types from a stranger, and of another organization what was said of one", async () => {
      const [one, two] = [await join("one"), await join("two")];
      const stranger = await connect({ servers: nats.url });
      const overheard: string[] = [];
      stranger.subscribe("herald.typing.>", { callback: (_, message) => void overheard.push(message.string()) });
      await stranger.flush();
      const heard: string[] = [];
      for (const org of ["o", "p"]) two.followTyping(org, ({ from }) => heard.push(`${from} of ${org}`));
      const note = { org: "o", cid: "c", from: "ann", status: "start", t: 1 } as const;
      while (overheard.length === 0 || heard.length === 0) {
        one.tellTyping(note);
        await Bun.sleep(1);
      }
      const [text = ""] = overheard;
      stranger.publish(typingSubject("o"), JSON.stringify({ ...note, from: "eve" }));
      stranger.publish(typingSubject("o"), text.replace("ann", "eve"));
      stranger.publish(typingSubject("p"), text);
      await stranger.flush();
      one.tellTyping({ ...note, from: "bob" });
      while (!heard.includes("bob of o")) await Bun.sleep(1);
      expect(new Set(heard)).toEqual(new Set(["ann of o", "bob of o"]));
      expect(two.dropped).toMatchObject({ unsigned: 1, forged: 2 });
      await stranger.close();
      await Promise.all([one.close(), two.close()]);
    });

    test("begins no watch for a stranger, none twice, and hears no news that are forged, repeated or to another question", async () => {
      const [one, two] = [await join("one"), await join("two")];
      const { watcher, begun, next } = createWatcher();
      two.watchWith(watcher);
      const stranger = await connect({ servers: nats.url });
      const overheard: { subject: string; text: string }[] = [];
      for (const subject of [watchSubject, "herald.news.>"])
        stranger.subscribe(subject, {
          callback: (_, message) => void overheard.push({ subject: message.subject, text: message.string() }),
        });
      await stranger.flush();
      const heard: unknown[] = [];
      one.watch(watchQuestion, (...told) => heard.push(told));
      const { tell } = await next();
      tell({ ...someNews, online: ["ann"] });
      while (heard.length < 1 || overheard.length < 2) await Bun.sleep(1);
      const [asked, told] = [...overheard];
      one.watch({ ...watchQuestion, event: "f" }, (...more) => heard.push(more));
      while (begun.length < 2) await Bun.sleep(1);
      const other = newsSubject("one", begun[1]?.id ?? "");
      stranger.publish(watchSubject, asked?.text ?? ""); // repeated
      stranger.publish(watchSubject, JSON.stringify({ ask: "x", from: "one", watch: watchQuestion }));
      stranger.publish(told?.subject ?? "", told?.text ?? ""); // repeated
      stranger.publish(told?.subject ?? "", (told?.text ?? "").replace("ann", "eve"));
      stranger.publish(other, told?.text ?? ""); // the answer to another question
      await stranger.flush();
      tell({ ...someNews, online: ["bob"] });
      while (heard.length < 2) await Bun.sleep(1);
      expect(heard).toEqual([
        ["two", { ...someNews, online: ["ann"] }],
        ["two", { ...someNews, online: ["bob"] }],
      ]);
      expect(begun).toHaveLength(2);
      expect(two.dropped).toMatchObject({ unsigned: 1, forged: 0 });
      expect(one.dropped).toMatchObject({ unsigned: 1, forged: 2 });
      await stranger.close();
      await Promise.all([one.close(), two.close()]);
    });
  });
}
