import { expect, test } from "bun:test";
import { createClient } from "./client.ts";
import { accept, startClient } from "./testing/app.ts";
import { startFakeServer } from "./testing/fake-server.ts";
import { createQueue } from "./testing/queue.ts";

test("the presence of a user is told now and when it changes, and asked for again after a reconnect", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url, since: "m0" });
  const { socket } = await accept(server.sockets, { recovered: true });
  await app.states.take(2);
  const heard = createQueue<number>();
  const first = app.client.presence("carol", () => heard.push(-1));
  const stop = app.client.presence("bob", (activity) => heard.push(activity));
  first(); // has ended already, and does not end the second
  const [old, subscribe] = await socket.requests.take(2);
  expect(subscribe).toMatchObject({ name: "user_last_activity_subscribe", parameters: { id: "bob" } });
  if (old) socket.answer(old, { last_activity: { carol: 1 } });
  if (subscribe) socket.answer(subscribe, { last_activity: { bob: 12 } });
  socket.send({ last_activity: { carol: 3 } });
  socket.send({ last_activity: { bob: 0 } });
  expect(await heard.take(2)).toEqual([12, 0]);
  socket.cut();
  const second = await accept(server.sockets, { recovered: true });
  const again = await second.socket.requests.next();
  second.socket.answer(again, { last_activity: { bob: 1 } });
  expect(await heard.next()).toBe(1);
  stop();
  expect(await second.socket.requests.next()).toMatchObject({ name: "user_last_activity_unsubscribe" });
});

test("custom parameters have the type that the app says", () => {
  const client = createClient<{ order: number }>({
    url: "http://127.0.0.1:1",
    token: () => "token",
    onMessage: ({ x }) => x.order.toFixed(),
    onMessageEdit: ({ x }) => x.order.toFixed(),
  });
  const orders: number[] = client
    .conversation("c")
    .getSnapshot()
    .messages.map(({ x }) => x.order);
  expect(orders).toEqual([]);
});
