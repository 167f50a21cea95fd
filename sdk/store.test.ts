import { expect, test } from "bun:test";
import { noteId, type Progress } from "./connection/progress.ts";
import { createSaved, type Store } from "./connection/saved.ts";
import { accept, message, startClient } from "./testing/app.ts";
import { startFakeServer } from "./testing/fake-server.ts";

/** A token of a user, as far as a client reads it. */
const tokenOf = (sub: string) =>
  `h.${new TextEncoder().encode(JSON.stringify({ org: "o", sub })).toBase64({ alphabet: "base64url", omitPadding: true })}.s`;

function createStore() {
  const entries = new Map<string, string>();
  let writes = 0;
  const store: Store = {
    getItem: (key) => entries.get(key) ?? null,
    setItem(key, value) {
      writes += 1;
      entries.set(key, value);
    },
  };
  return { store, entries, writes: () => writes };
}

const onError = (error: unknown) => {
  throw error;
};

/** What a page knows of a user that another page of the same browser left. */
function openPage(store: Store, uid = "bob", given?: string) {
  const progress: Progress = { since: given, ids: new Set() };
  const saved = createSaved(progress, store, onError);
  saved.begin(tokenOf(uid));
  return {
    get since() {
      return progress.since;
    },
    has: (id: string) => progress.ids.has(id),
    become: (other: string) => saved.begin(tokenOf(other)),
    save: saved.save,
    note(id: string) {
      saved.changed();
      noteId(progress, id);
      progress.since = id;
    },
  };
}

test("after a reload the client goes on where it was, and drops what it has seen", async () => {
  using server = startFakeServer();
  const { store, writes } = createStore();
  const options = { url: server.url, store, token: () => tokenOf("bob") };
  {
    using app = startClient(options);
    const { socket, connect } = await accept(server.sockets);
    expect(connect.parameters.since).toBeUndefined();
    for (const id of ["m1", "m2", "m3"]) socket.send(message(id));
    await app.messages.take(3);
  }
  expect(writes()).toBeWithin(1, 3); // once, or twice if that took a second
  using app = startClient(options);
  const { socket, connect } = await accept(server.sockets, { recovered: true });
  expect(connect.parameters.since).toBe("m3");
  for (const id of ["m2", "m4"]) socket.send(message(id));
  expect(await app.messages.next()).toBe("m4");
});

test("each user has a place of their own, also when the user of a page changes", () => {
  const { store } = createStore();
  const page = openPage(store, "bob");
  page.note("m1");
  page.become("ünï/日本");
  expect([page.since, page.has("m1")]).toEqual([undefined, false]);
  page.note("m2");
  page.save();
  expect([openPage(store, "bob").since, openPage(store, "ünï/日本").since]).toEqual(["m1", "m2"]);
});

test("two tabs never take each other back or ahead", () => {
  const { store } = createStore();
  const [first, second] = [openPage(store), openPage(store)];
  for (const id of ["m1", "m2", "m3"]) first.note(id);
  second.note("m1");
  first.save();
  second.save(); // it is behind: what the first one has heard stays known
  expect(openPage(store).since).toBe("m3");
  for (const id of ["m2", "m3", "m4"]) second.note(id);
  second.save();
  first.save();
  const third = openPage(store);
  expect([third.since, third.has("m1"), third.has("m4")]).toEqual(["m4", true, true]);
});

test("what is stored is bounded, and written to once a second at most", async () => {
  const { store, entries, writes } = createStore();
  const page = openPage(store);
  for (let index = 0; index < 5_000; index += 1) page.note(`message number ${index}`);
  expect([writes(), page.has("message number 0"), page.has("message number 4999")]).toEqual([0, false, true]);
  page.save();
  expect([...entries.values()].join().length).toBeLessThan(6_000);
  expect(writes()).toBe(1);
});

test("the app's own since goes before what is stored", () => {
  const { store } = createStore();
  const page = openPage(store);
  page.note("m1");
  page.save();
  expect(openPage(store, "bob", "m0").since).toBe("m0");
});

test("a store that fails, and a token that is no JWT, are told and stop nothing", async () => {
  using server = startFakeServer();
  const store: Store = {
    getItem: () => null,
    setItem() {
      throw new Error("the disk is full");
    },
  };
  using app = startClient({ url: server.url, store, token: () => tokenOf("bob") });
  const { socket } = await accept(server.sockets);
  socket.send(message("m1"));
  expect(await app.messages.next()).toBe("m1");
  app.client.stop();
  expect(await app.errors.next()).toMatchObject({ message: "the disk is full" });
  using opaque = startClient({ url: server.url, store, token: () => "no-JWT" });
  expect(await opaque.errors.next()).toBeInstanceOf(Error);
  await accept(server.sockets);
});

test("where a browser refuses to name its storage, the app is told, and the client works without", async () => {
  using server = startFakeServer();
  const refuse = () => {
    throw new DOMException("Access is denied for this document.", "SecurityError");
  };
  using app = startClient({ url: server.url, store: refuse, token: () => tokenOf("bob") });
  const { socket } = await accept(server.sockets);
  expect(await app.errors.next()).toBeInstanceOf(DOMException);
  socket.send(message("m1"));
  expect(await app.messages.next()).toBe("m1");
  socket.close(1012);
  const { connect } = await accept(server.sockets, { recovered: true });
  expect(connect.parameters.since).toBe("m1");
});

test("a store may be named when it is first needed", async () => {
  using server = startFakeServer();
  const { store } = createStore();
  const options = { url: server.url, store: () => store, token: () => tokenOf("bob") };
  {
    using app = startClient(options);
    const { socket } = await accept(server.sockets);
    socket.send(message("m1"));
    await app.messages.next();
  }
  using _app = startClient(options);
  expect((await accept(server.sockets)).connect.parameters.since).toBe("m1");
});
