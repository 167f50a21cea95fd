import { describe, expect, test } from "bun:test";
import { EventEmitter, on } from "node:events";
import { createAdmin } from "../../sdk/admin.ts";
import { HeraldApiError } from "../../sdk/errors.ts";
import { startSpoiltLine } from "../harness/clients/spoilt-line.ts";
import { createRandom } from "../harness/random.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const herald = useHerald({ env: { HERALD_LIMIT_REQUESTS_PER_SECOND: "0", HERALD_LIMIT_REQUESTS_BURST: "0" } });
const connect = (url = herald().url) => createAdmin({ url, key: herald().key });

/** An admin client, and the paths of its calls. */
function connectAndCount() {
  const paths: string[] = [];
  const fetched = (url: string, init: RequestInit) => {
    paths.push(new URL(url).pathname);
    return fetch(url, init);
  };
  return { admin: createAdmin({ url: herald().url, key: herald().key, fetch: fetched }), paths };
}

async function createRoom() {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["agent", "bob"]);
  return { org, cid, envelope: { organizationId: org.id, senderId: "agent", message: { cid } } };
}

describe("a stream of text", () => {
  test("is a message that grows while it is written, and complete when it is done", async () => {
    const { org, cid, envelope } = await createRoom();
    using bob = await org.socket("bob");
    const answer = await connect().stream({ ...envelope, message: { cid, body: "Hé 👋", x: { model: "m" } } });
    expect(await bob.next()).toMatchObject({
      message: { _id: answer.id, body: "Hé 👋", x: { model: "m" }, open: true },
    });
    await answer.write(" one");
    expect(await bob.next()).toMatchObject({ message_append: { id: answer.id, offset: 4, text: " one", done: false } });
    await answer.write(" \ud83d");
    await answer.write("\udc4b");
    await answer.write("");
    let heard = "";
    while (heard !== " 👋") heard += (await bob.next()).message_append?.text;
    expect(await answer.done()).toEqual({ success: true, length: 10 });
    expect(await org.history(cid)).toMatchObject([{ _id: answer.id, body: "Hé 👋 one 👋" }]);
    await expect(answer.write("more")).rejects.toThrow("After done(), nothing is added.");
    expect(await answer.done()).toEqual({ success: true, length: 10 });
  });

  test("needs nobody to wait for anything but its end", async () => {
    const { org, cid, envelope } = await createRoom();
    const words = Array.from({ length: 3_000 }, (_, index) => `word ${index} 👋 `);
    const { admin, paths } = connectAndCount();
    const answer = await admin.stream(envelope);
    for (const word of words) void answer.write(word);
    await answer.done();
    expect(await org.history(cid)).toMatchObject([{ body: words.join("") }]);
    expect(paths).toEqual(["/admin/message", "/admin/message/append"]);
  });

  test("says why it has ended early, to what is written and at the end", async () => {
    const { org, cid, envelope } = await createRoom();
    const answer = await connect().stream(envelope);
    await org.recalled("agent", cid, answer.id);
    void answer.write("into the void");
    await expect(answer.done()).rejects.toMatchObject({ status: 404, code: "message_not_found" });
    const long = await connect().stream(envelope);
    const written = long.write("x".repeat(65_537));
    await expect(written).rejects.toMatchObject({ status: 422 });
    await expect(long.done()).rejects.toMatchObject({ status: 422 });
    const closed = await connect().stream(envelope);
    const by = { organizationId: org.id, senderId: "agent" };
    await connect().append({ ...by, messageAppend: { id: closed.id, offset: 0, text: "other", done: true } });
    void closed.write("mine");
    await expect(closed.done()).rejects.toMatchObject({ status: 409, code: "append_conflict", length: 5 });
  });

  test("is broken off by its signal, and then open", async () => {
    const { org, cid, envelope } = await createRoom();
    const over = new AbortController();
    const answer = await connect().stream(envelope, { signal: over.signal });
    using bob = await org.socket("bob");
    await answer.write("a part");
    await bob.next(({ message_append: piece }) => piece !== undefined, "the part");
    const reason = new Error("enough");
    over.abort(reason);
    await expect(answer.done()).rejects.toBe(reason);
    expect(await org.history(cid)).toMatchObject([{ body: "a part", open: true }]);
  });
});

describe("a stream that is resumed", () => {
  /** What a process that dies leaves: an open message with some text. */
  async function createBegun(...texts: string[]) {
    const room = await createRoom();
    const envelope = { ...room.envelope, message: { ...room.envelope.message, id: "answer-7", body: "So: " } };
    const dead = new AbortController();
    const { id } = await connect().stream(envelope, { signal: dead.signal });
    dead.abort();
    let offset = 4;
    for (const text of texts) {
      const by = { organizationId: room.org.id, senderId: "agent" };
      offset = (await connect().append({ ...by, messageAppend: { id, offset, text } })).length;
    }
    return { ...room, envelope, id };
  }

  test("leaves out what is stored, however its text is cut, and stores each character once", async () => {
    const text = "one 👋👋 two";
    for (const stored of [[], ["one "], ["one 👋"], ["on", "e 👋👋"], [text]])
      for (const pieces of [[...text.split("")], [text], ["one ", "👋\ud83d", "\udc4b two"]]) {
        const { org, cid, envelope, id } = await createBegun(...stored);
        const answer = await connect().stream(envelope, { resume: true });
        for (const piece of pieces) void answer.write(piece);
        expect(answer.id).toBe(id);
        expect(await answer.done()).toEqual({ success: true, length: 14 });
        const [listed, ...others] = await org.history(cid);
        expect([listed?._id, listed?.body, others]).toEqual([id, `So: ${text}`, []]);
        expect(listed).not.toHaveProperty("open");
      }
  });

  test("waits for text beyond what is stored, piece by piece", async () => {
    const { org, cid, envelope, id } = await createBegun("one two ");
    using bob = await org.socket("bob");
    const answer = await connect().stream(envelope, { resume: true });
    for (const word of ["one ", "two ", "three "]) await answer.write(word);
    expect(await bob.next()).toMatchObject({ message_append: { id, offset: 12, text: "three " } });
    await answer.write("four");
    expect(await bob.next()).toMatchObject({ message_append: { id, offset: 18, text: "four" } });
    await answer.done();
    expect(await org.history(cid)).toMatchObject([{ body: "So: one two three four" }]);
  });

  test("of a pipe says that it is complete if it is, and refuses other text behind its end", async () => {
    const { org, cid, envelope, id } = await createBegun("all");
    const whole = { id, success: true as const, length: 7 };
    expect(await connect().pipe(["a", "ll"], envelope, { resume: true })).toEqual(whole);
    expect(await connect().pipe(["a", "ll"], envelope, { resume: true })).toEqual(whole);
    const more = connect().pipe(["a", "ll", " and more"], envelope, { resume: true });
    await expect(more).rejects.toMatchObject({ status: 409, code: "append_conflict", length: 7 });
    const again = connect().pipe(["x"], envelope);
    await expect(again).rejects.toMatchObject({ status: 409, code: "append_conflict", length: 7 });
    expect(await org.history(cid)).toMatchObject([{ body: "So: all" }]);
  });

  test("needs the id of the message", async () => {
    const { envelope } = await createRoom();
    await expect(connect().stream(envelope, { resume: true })).rejects.toThrow("resume needs the message.id");
  });
});

describe("a pipe", () => {
  test("takes pieces no faster than they are stored", async () => {
    const { org, cid, envelope } = await createRoom();
    const line = await startSpoiltLine(Number(new URL(herald().url).port));
    let taken = 0;
    const frozen = Promise.withResolvers<void>();
    async function* pieces() {
      for (; taken < 60; taken++) {
        if (taken === 1) line.freeze(); // the message is open by then
        if (taken === 16) frozen.resolve(); // by the 17th, more than may be unanswered
        yield "x".repeat(1_000);
      }
    }
    const piping = connect(`http://127.0.0.1:${line.port}`).pipe(pieces(), envelope);
    await frozen.promise;
    using bob = await org.socket("bob");
    await org.sentSystem("agent", { uids: ["bob"] });
    await bob.next();
    expect(taken).toBe(16);
    await line.mend();
    expect(await piping).toMatchObject({ success: true, length: 60_000 });
    expect(await org.history(cid)).toMatchObject([{ body: "x".repeat(60_000) }]);
    line.stop();
  });

  test("hears a source that keeps nothing for whoever listens later", async () => {
    const { org, cid, envelope } = await createRoom();
    const source = new EventEmitter();
    async function* pieces() {
      for await (const [piece] of on(source, "piece", { close: ["end"] })) yield piece as string;
    }
    const piping = connect().pipe(pieces(), envelope);
    source.emit("piece", "at ");
    source.emit("piece", "once");
    source.emit("end");
    await piping;
    expect(await org.history(cid)).toMatchObject([{ body: "at once" }]);
  });

  test("that is refused ends its source, even before the first piece", async () => {
    const { envelope } = await createRoom();
    const source = new EventEmitter();
    const pieces = on(source, "piece") as AsyncIterableIterator<string>;
    await expect(connect().pipe(pieces, { ...envelope, senderId: "stranger" })).rejects.toThrow(HeraldApiError);
    expect(source.listenerCount("piece")).toBe(0);
  });

  test("of what throws leaves the message complete as it is", async () => {
    const { org, cid, envelope } = await createRoom();
    function* pieces() {
      yield "a part";
      throw new Error("the model is gone");
    }
    await expect(connect().pipe(pieces(), envelope)).rejects.toThrow("the model is gone");
    const [listed] = await org.history(cid);
    expect(listed?.body).toBe("a part");
    expect(listed).not.toHaveProperty("open");
  });

  test("whose line is cut at random says exactly what was written", async () => {
    const random = createRandom();
    const { org, cid, envelope } = await createRoom();
    using bob = await org.socket("bob");
    const line = await startSpoiltLine(Number(new URL(herald().url).port));
    const pieces = Array.from({ length: 600 }, (_, index) => `${index} ${"é👋".repeat(random.integer(0, 9))} `);
    let cuts = 0;
    async function* cutting(): AsyncGenerator<string, void> {
      for (const piece of pieces) {
        if (random.integer(1, 40) === 1) {
          line.cut();
          cuts++;
          yield piece;
          await line.mend();
        } else {
          yield piece;
          if (random.integer(1, 10) === 1) await bob.next();
        }
      }
    }
    const admin = connect(`http://127.0.0.1:${line.port}`);
    const { id, length } = await admin.pipe(cutting(), envelope);
    const text = pieces.join("");
    expect(cuts).toBeGreaterThan(0);
    expect(length).toBe([...text].length);
    expect(await org.history(cid)).toMatchObject([{ _id: id, body: text }]);
    line.stop();
  });
});
