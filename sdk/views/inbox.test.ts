import { expect, test } from "bun:test";
import { accept, startClient } from "../testing/app.ts";
import { startFakeServer } from "../testing/fake-server.ts";
import { answer, until } from "../testing/views.ts";

const at = "2026-11-20T12:00:00.000Z";
const message = (_id: string, more = {}) => ({ _id, t: 1, from: "backend", x: {}, created_at: at, ...more });
const item = (_id: string, more = {}) => ({ ...message(_id), seen_at: null, read_at: null, ...more });
const list = (...system_messages: object[]) => ({ system_message_list: { system_messages } });

/** A client whose inbox holds two items, of which one is unread. */
async function openInbox() {
  const server = startFakeServer();
  const app = startClient({ url: server.url, since: "m3" });
  const { socket } = await accept(server.sockets, { recovered: true });
  await app.states.take(2);
  const { inbox } = app.client;
  const leave = inbox.subscribe(() => undefined);
  await answer(socket, list(item("b"), item("a", { seen_at: at, read_at: at })));
  await answer(socket, list(item("b")));
  await until(inbox, ({ isLoaded }) => isLoaded);
  const close = () => {
    leave();
    app[Symbol.dispose]();
    server[Symbol.dispose]();
  };
  return { ...app, inbox, socket, [Symbol.dispose]: close };
}

const idsIn = (items: readonly { _id: string }[]) => items.map(({ _id }) => _id).join();

test("an inbox reads its first page and what is unread, and follows what arrives", async () => {
  using app = await openInbox();
  expect(app.inbox.getSnapshot()).toMatchObject({ unread: 1, hasMore: false, error: undefined });
  app.socket.send({ system_message: message("c") });
  app.socket.send({ system_message: message("quiet", { silent: true }) });
  app.socket.send({ system_message: { ...message("not kept"), created_at: undefined } });
  await until(app.inbox, ({ items }) => idsIn(items) === "quiet,c,b,a");
  expect(app.inbox.getSnapshot().unread).toBe(2);
});

test("is read again where one with a key replaces another, and where a recall names what is shown", async () => {
  using app = await openInbox();
  app.socket.send({ system_message: message("c", { key: "k" }) });
  await answer(app.socket, list(item("c", { key: "k" })));
  await answer(app.socket, list(item("c", { key: "k" })));
  await until(app.inbox, ({ items }) => idsIn(items) === "c");
  app.socket.send({ system_message_delete: { ids: ["c", "other"], from: "another", t: 2 } });
  app.socket.send({ system_message_delete: { ids: ["c"], from: "backend", t: 2 } });
  await answer(app.socket, list());
  await answer(app.socket, list());
  await until(app.inbox, ({ items }) => items.length === 0);
});

test("is read again if a recall or a mark comes while it is read", async () => {
  using app = await openInbox();
  const old = list(item("c", { key: "k" }), item("b"));
  const now = list(item("b", { seen_at: at }));
  app.socket.send({ system_message: message("c", { key: "k" }) });
  const request = await app.socket.requests.next();
  app.socket.send({ system_message_delete: { ids: ["c"], from: "backend", t: 2 } });
  app.socket.send({ system_message_read: { ids: ["b"], seen: true, t: 3 } });
  app.socket.answer(request, old.system_message_list);
  for (const body of [old, now, now]) await answer(app.socket, body);
  await until(app.inbox, ({ items }) => idsIn(items) === "b" && items[0]?.seen_at === at);
});

test("marks what the server tells, from this or another tab", async () => {
  using app = await openInbox();
  const marking = app.inbox.markSeen();
  expect(await answer(app.socket, { system_message_read: { success: true } })).toEqual({
    system_message_read: { seen: true },
  });
  await marking;
  app.socket.send({ system_message_read: { ids: ["b"], seen: true, t: 1_795_179_963 } });
  await until(app.inbox, ({ items }) => items[0]?.seen_at === new Date(1_795_179_963_000).toISOString());
  expect(app.inbox.getSnapshot().items[0]?.read_at).toBeNull();
  expect(app.inbox.getSnapshot().unread).toBe(1);
  app.socket.send({ system_message_read: { ids: ["b"], seen: false, t: 1_795_179_970 } });
  await answer(app.socket, list(item("b", { seen_at: at, read_at: at })));
  await answer(app.socket, list());
  await until(app.inbox, ({ unread }) => unread === 0);
  const reading = app.inbox.markRead(["b"]);
  expect(await answer(app.socket, { system_message_read: { success: true } })).toEqual({
    system_message_read: { ids: ["b"] },
  });
  await reading;
});

test("reads more before the last item, and says why it could not be read", async () => {
  const server = startFakeServer();
  using app = startClient({ url: server.url, since: "m3" });
  const { socket } = await accept(server.sockets, { recovered: true });
  await app.states.take(2);
  const { inbox } = app.client;
  const leave = inbox.subscribe(() => undefined);
  await answer(socket, list(...Array.from({ length: 50 }, (_, index) => item(`i${index}`))));
  await answer(socket, list());
  await until(inbox, ({ hasMore }) => hasMore);
  const more = inbox.loadMore();
  expect(await answer(socket, list(item("last")))).toEqual({ system_message_list: { limit: 50, before: "i49" } });
  await more;
  expect(inbox.getSnapshot()).toMatchObject({ hasMore: false });
  expect(inbox.getSnapshot().items.at(-1)?._id).toBe("last");
  leave();
  await Bun.sleep(0);
  const again = inbox.subscribe(() => undefined);
  await answer(socket, { system_message_list: { error: { status: 503, code: "unavailable", message: "away" } } });
  await until(inbox, ({ error }) => error !== undefined);
  again();
  server[Symbol.dispose]();
});
