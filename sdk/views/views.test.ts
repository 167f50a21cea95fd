import { expect, test } from "bun:test";
import type { Client } from "../client-options.ts";
import { accept, message, startClient } from "../testing/app.ts";
import { startFakeServer } from "../testing/fake-server.ts";
import { answer, until } from "../testing/views.ts";

const of = (ids: string[]) => ids.map((id) => message(id).message);
const summary = (_id: string, unread_messages_count: number) => ({
  _id,
  name: _id,
  type: "g",
  created_at: "2026-11-20T12:00:00.000Z",
  updated_at: "2026-11-20T12:00:00.000Z",
  unread_messages_count,
});

const idsOf = (client: Client) =>
  client
    .conversation("c")
    .getSnapshot()
    .messages.map(({ _id }) => _id);
const untilIds = (client: Client, ids: string) =>
  until(client.conversation("c"), ({ messages }) => messages.map(({ _id }) => _id).join() === ids);

/** A client whose view of the conversation "c" shows three messages of its history. */
async function openView() {
  const server = startFakeServer();
  const app = startClient({ url: server.url, since: "m3" });
  const { socket } = await accept(server.sockets, { recovered: true });
  await app.states.take(2);
  const view = app.client.conversation("c");
  const leave = view.subscribe(() => undefined);
  await answer(socket, {
    conversation_list: { conversations: [summary("c", 2)], cursor: null },
    message_list: { messages: of(["m3", "m2", "m1"]) },
  });
  await untilIds(app.client, "m1,m2,m3");
  const close = () => {
    leave();
    app[Symbol.dispose]();
    server[Symbol.dispose]();
  };
  return { server, ...app, socket, view, leave, [Symbol.dispose]: close };
}

const edit = (id: string, body: string) => ({ message_edit: { id, cid: "c", from: "alice", body, x: { n: 1 }, t: 2 } });
const recall = (ids: string[]) => ({ message_delete: { ids, cid: "c", from: "alice", type: "all", t: 3 } });

test("a view reads the last messages and the unread count, and follows messages, edits and recalls", async () => {
  using app = await openView();
  expect(app.view.getSnapshot()).toMatchObject({ isLoaded: true, hasOlder: false, unread: 2, error: undefined });
  const before = app.view.getSnapshot();
  app.socket.send(message("m4"));
  app.socket.send(edit("m2", "new"));
  app.socket.send(recall(["m1", "unknown"]));
  app.socket.send({ message: { ...message("elsewhere").message, cid: "another" } });
  await untilIds(app.client, "m2,m3,m4");
  expect(app.view.getSnapshot().messages[0]).toMatchObject({
    _id: "m2",
    body: "new",
    x: { n: 1 },
    edited_at: "1970-01-01T00:00:02.000Z",
  });
  expect(before.messages.map(({ body }) => body)).toEqual(["m1", "m2", "m3"]); // a snapshot does not change
});

test("reactions are read again, once for all that come meanwhile, and only of messages that are shown", async () => {
  using app = await openView();
  const react = (mid: string) => ({ message_reactions_update: { mid, cid: "c", from: "alice", add: "👍" } });
  for (const mid of ["unknown", "m2", "m1", "m2"]) app.socket.send(react(mid));
  const shown = () => app.view.getSnapshot().messages.map(({ reactions }) => reactions?.total);
  const [first] = await app.socket.requests.take(1);
  expect(first).toMatchObject({ name: "message_list", parameters: { cid: "c", ids: ["m2"] } });
  const counted = (id: string, count: number) => ({
    ...message(id).message,
    reactions: { own: [], total: { "👍": count } },
  });
  if (first) app.socket.answer(first, { messages: [counted("m2", 1)] });
  const [second] = await app.socket.requests.take(1);
  expect(second?.parameters).toEqual({ cid: "c", ids: ["m1", "m2"] });
  if (second) app.socket.answer(second, { messages: [counted("m2", 2), counted("m1", 1)] });
  await until(app.view, () => shown()[1]?.["👍"] === 2);
  expect(shown()).toEqual([{ "👍": 1 }, { "👍": 2 }, undefined]);
  app.socket.send({ message_reactions_update: { mid: "m1", cid: "c", from: "alice", remove: "👍" } });
  const [third] = await app.socket.requests.take(1);
  if (third) app.socket.answer(third, { messages: [message("m1").message] });
  await until(app.view, () => shown()[0] === undefined);
});

test("a message twice is shown once, and a snapshot stays the same until something changes", async () => {
  using app = await openView();
  app.socket.send(message("m3"));
  app.socket.send(message("m4"));
  await untilIds(app.client, "m1,m2,m3,m4");
  expect(app.view.getSnapshot()).toBe(app.view.getSnapshot());
  expect(app.client.conversation("c")).toBe(app.view);
});

const piece = (offset: number, text: string, done = false) => ({
  message_append: { id: "m4", cid: "c", from: "alice", offset, text, done, t: 3 },
});

test("the text of an open message grows by its pieces, and the other messages stay the same objects", async () => {
  using app = await openView();
  const said = () => app.view.getSnapshot().messages[3];
  app.socket.send({ message: { ...message("m4").message, body: "Hé", open: true } });
  await untilIds(app.client, "m1,m2,m3,m4");
  const before = app.view.getSnapshot();
  expect(said()).toMatchObject({ body: "Hé", isOpen: true });
  expect(before.unread).toBe(2);
  app.socket.send(piece(2, "llo 👋"));
  app.socket.send(piece(2, "llo 👋")); // the same again
  app.socket.send(piece(6, "👋 you")); // begins before the end
  await until(app.view, () => said()?.body === "Héllo 👋 you");
  expect(said()).toMatchObject({ isOpen: true });
  expect(before.messages.slice(0, 3).every((one, index) => one === app.view.getSnapshot().messages[index])).toBe(true);
  expect(before.messages[3]?.body).toBe("Hé");
  app.socket.send(piece(11, "!", true));
  await until(app.view, ({ unread }) => unread === 3);
  expect(app.socket.requests.length).toBe(0); // it was counted here
  expect(said()?.body).toBe("Héllo 👋 you!");
  expect(said()).not.toHaveProperty("isOpen");
  expect(said()).not.toHaveProperty("open");
  app.socket.send(piece(12, "too late"));
  app.socket.send(message("m5"));
  await untilIds(app.client, "m1,m2,m3,m4,m5");
  expect(said()?.body).toBe("Héllo 👋 you!");
});

test("the list counts a message once it is complete, where it stands, and is not read again", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url, since: "m0" });
  const { socket } = await accept(server.sockets, { recovered: true, user_id: "bob" });
  await app.states.take(2);
  const { conversations } = app.client;
  const shown = () => conversations.getSnapshot().conversations;
  const leave = conversations.subscribe(() => undefined);
  await answer(socket, {
    conversation_list: { conversations: [summary("other", 0), summary("c", 1)], cursor: null },
  });
  await until(conversations, ({ isLoaded }) => isLoaded);
  socket.send({ message: { ...message("m4").message, body: "Hé", open: true } });
  socket.send({ message: { ...message("elsewhere").message, cid: "other" } });
  socket.send(piece(2, "llo "));
  socket.send(piece(6, "👋", true));
  await until(conversations, () => shown()[1]?.unread_messages_count === 2);
  expect(shown().map(({ _id }) => _id)).toEqual(["other", "c"]);
  expect(shown()[1]?.last_message).toMatchObject({ _id: "m4", body: "Héllo 👋" });
  expect(shown()[1]?.last_message).not.toHaveProperty("open");
  socket.send({ message: { ...message("mine").message, from: "bob", body: "", open: true } });
  socket.send({ message_append: { ...piece(0, "!", true).message_append, id: "mine", from: "bob" } });
  await until(conversations, () => shown()[0]?.last_message?.body === "!");
  expect(shown()[0]).toMatchObject({ _id: "c", unread_messages_count: 2 });
  expect(socket.requests.length).toBe(0);
  leave();
});

test("the list is read again once a message is complete that the user has read, or of which pieces are missing", async () => {
  using app = await openView();
  const listed = { conversation_list: { conversations: [summary("c", 0)], cursor: null } };
  app.socket.send({ message: { ...message("m4").message, body: "", open: true } });
  await untilIds(app.client, "m1,m2,m3,m4");
  const marking = app.view.markRead();
  await answer(app.socket, { message_read: { success: true } });
  await marking;
  app.socket.send(piece(0, "one ", true));
  expect(await answer(app.socket, listed)).toEqual({ conversation_list: { limit: 100 } });
  app.socket.send({ message_append: { ...piece(9, "late", true).message_append, id: "unknown" } });
  expect(await answer(app.socket, listed)).toEqual({ conversation_list: { limit: 100 } });
  await until(app.view, ({ messages, unread }) => unread === 0 && messages[3]?.body === "one ");
});

test("an open message of which pieces are missing is read again", async () => {
  using app = await openView();
  const open = { ...message("m4").message, body: "", open: true };
  app.socket.send({ message: open });
  app.socket.send(piece(4, "two "));
  const request = await app.socket.requests.next();
  expect(request).toMatchObject({ name: "message_list", parameters: { cid: "c", ids: ["m4"] } });
  app.socket.send(piece(8, "three "));
  app.socket.answer(request, { messages: [{ ...open, body: "one two " }] });
  await until(app.view, ({ messages }) => messages[3]?.body === "one two ");
  await answer(app.socket, { message_list: { messages: [{ ...open, body: "one two three " }] } });
  await until(app.view, ({ messages }) => messages[3]?.body === "one two three ");
  app.socket.send(piece(14, "four"));
  await until(app.view, ({ messages }) => messages[3]?.body === "one two three four");
  expect(app.view.getSnapshot().messages[3]?.isOpen).toBe(true);
});

test("older messages are read in pages, and what happens meanwhile is not lost", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url, since: "m0" });
  const { socket } = await accept(server.sockets, { recovered: true });
  await app.states.take(2);
  const view = app.client.conversation("c");
  const leave = view.subscribe(() => undefined);
  const ids = Array.from({ length: 60 }, (_, index) => `h${index}`);
  await answer(socket, {
    conversation_list: { conversations: [], cursor: null },
    message_list: { messages: of(ids.slice(10).reverse()) },
  });
  await until(view, ({ isLoaded }) => isLoaded);
  expect(view.getSnapshot()).toMatchObject({ hasOlder: true, unread: undefined });
  const loading = Promise.all([view.loadOlder(), view.loadOlder()]);
  const request = await socket.requests.next();
  expect(request).toMatchObject({ name: "message_list", parameters: { cid: "c", limit: 50, before: "h10" } });
  socket.send(recall(["h3"]));
  socket.send(edit("h4", "edited"));
  socket.send(message("new"));
  socket.answer(request, { messages: of(ids.slice(0, 10).reverse()) });
  await loading;
  expect(idsOf(app.client)).toEqual([...ids.filter((id) => id !== "h3"), "new"]);
  expect(view.getSnapshot().messages.find(({ _id }) => _id === "h4")?.body).toBe("edited");
  expect(view.getSnapshot().hasOlder).toBe(false);
  await view.loadOlder(); // nothing to read
  leave();
});

test("after a reconnect that the server makes up for nothing is read again; after a gap, the view is", async () => {
  using app = await openView();
  app.socket.cut();
  const second = await accept(app.server.sockets, { recovered: true });
  second.socket.send(message("m4"));
  await untilIds(app.client, "m1,m2,m3,m4");
  second.socket.cut();
  const third = await accept(app.server.sockets, { recovered: false });
  const asked = await answer(third.socket, {
    conversation_list: { conversations: [summary("c", 5)], cursor: null },
    message_list: { messages: of(["m9", "m8"]) },
  });
  expect(asked.message_list).toEqual({ cid: "c", limit: 50 });
  await until(app.view, ({ unread, messages }) => unread === 5 && messages.length === 2);
  expect(idsOf(app.client)).toEqual(["m8", "m9"]);
});

test("a read of the list, or a mark, that a lost connection leaves unanswered is made up for by the next connection", async () => {
  using app = await openView();
  app.socket.send(recall(["m2"]));
  await app.socket.requests.next(); // of the list, which is not answered
  app.socket.cut();
  const second = await accept(app.server.sockets, { recovered: true });
  await answer(second.socket, { conversation_list: { conversations: [summary("c", 1)], cursor: null } });
  await until(app.view, ({ unread }) => unread === 1);
  const marked = app.client.markRead("c").catch((error: Error) => error.name);
  await second.socket.requests.next(); // of the mark, which the server stores
  second.socket.cut();
  expect(await marked).toBe("HeraldConnectionError");
  const third = await accept(app.server.sockets, { recovered: true });
  await answer(third.socket, { conversation_list: { conversations: [summary("c", 0)], cursor: null } });
  await until(app.view, ({ unread }) => unread === 0);
});

test("a view that nobody shows rests, and is read again when somebody does", async () => {
  using app = await openView();
  app.leave();
  await Promise.resolve();
  app.socket.send(message("m4"));
  await app.messages.next();
  expect(idsOf(app.client)).toEqual(["m1", "m2", "m3"]);
  const leave = app.view.subscribe(() => undefined);
  await answer(app.socket, {
    conversation_list: { conversations: [summary("c", 3)], cursor: null },
    message_list: { messages: of(["m4", "m3"]) },
  });
  await untilIds(app.client, "m3,m4");
  leave();
});

test("a listener that is replaced at once costs no second read", async () => {
  using app = await openView();
  app.leave();
  const leave = app.view.subscribe(() => undefined);
  app.socket.send(message("m4"));
  await untilIds(app.client, "m1,m2,m3,m4");
  expect(app.socket.requests.length).toBe(0);
  leave();
});

test("a conversation that may not be read says why", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url });
  const view = app.client.conversation("c");
  const leave = view.subscribe(() => undefined); // before the client is connected
  const { socket } = await accept(server.sockets);
  const error = { status: 403, code: "not_a_participant", message: "no" };
  await answer(socket, { conversation_list: { conversations: [], cursor: null }, message_list: { error } });
  await until(view, (snapshot) => snapshot.error !== undefined);
  expect(view.getSnapshot()).toMatchObject({ isLoaded: false, error: { code: "not_a_participant" } });
  leave();
});

test("a view keeps at most a thousand messages, and the oldest go first", async () => {
  using app = await openView();
  for (let index = 0; index < 1_010; index += 1) app.socket.send(message(`n${index}`));
  await until(app.view, ({ messages }) => messages.at(-1)?._id === "n1009");
  expect(app.view.getSnapshot().messages).toHaveLength(1_000);
  expect(app.view.getSnapshot()).toMatchObject({ hasOlder: true });
  expect(app.view.getSnapshot().messages[0]?._id).toBe("n10");
});

test("the list follows messages: their conversation moves to the top, unread, until it is marked as read", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url, since: "m0" });
  const { socket } = await accept(server.sockets, { recovered: true, user_id: "bob" });
  await app.states.take(2);
  const { conversations } = app.client;
  const shown = () => conversations.getSnapshot().conversations.map((one) => `${one._id} ${one.unread_messages_count}`);
  const leave = conversations.subscribe(() => undefined);
  await answer(socket, {
    conversation_list: { conversations: [summary("other", 0), summary("c", 0)], cursor: "next" },
  });
  await until(conversations, ({ isLoaded }) => isLoaded);
  expect(conversations.getSnapshot().hasMore).toBe(true);
  socket.send(message("m1"));
  socket.send({ message: { ...message("m2").message, from: "bob" } });
  socket.send({ message: { ...message("quiet").message, silent: true } });
  await until(conversations, () => conversations.getSnapshot().conversations[0]?.last_message?._id === "quiet");
  expect(shown()).toEqual(["c 1", "other 0"]);
  const marking = app.client.conversation("c").markRead();
  const [read] = await socket.requests.take(1);
  expect(read).toMatchObject({ name: "message_read", parameters: { cid: "c" } });
  if (read) socket.answer(read, { success: true });
  await marking;
  expect(shown()).toEqual(["c 0", "other 0"]);
  const more = conversations.loadMore();
  expect(
    await answer(socket, { conversation_list: { conversations: [summary("c", 0), summary("old", 7)], cursor: null } }),
  ).toEqual({
    conversation_list: { limit: 100, cursor: "next" },
  });
  await more;
  expect(shown()).toEqual(["c 0", "other 0", "old 7"]);
  expect(conversations.getSnapshot().hasMore).toBe(false);
  socket.send({ message: { ...message("m3").message, cid: "new" } });
  await answer(socket, { conversation_list: { conversations: [summary("new", 1)], cursor: null } });
  await until(conversations, () => shown().join() === "new 1");
  leave();
});
