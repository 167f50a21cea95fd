import { expect, test } from "bun:test";
import { HeraldRequestError } from "./errors.ts";
import { accept, startClient } from "./testing/app.ts";
import { startFakeServer } from "./testing/fake-server.ts";

async function connected(server: ReturnType<typeof startFakeServer>, url = server.url) {
  const app = startClient({ url });
  const { socket } = await accept(server.sockets);
  for (let state = ""; state !== "connected"; ) state = await app.states.next();
  return { app, socket, [Symbol.dispose]: () => app[Symbol.dispose]() };
}

test("addresses that are asked for in one go share a request, and are absolute; a file that nobody names has none", async () => {
  using server = startFakeServer();
  using opened = await connected(server, `${server.url}/chat`);
  const { app, socket } = opened;
  const urls = Promise.all(["a", "b", "a"].map((id) => app.client.fileUrl(id)));
  const request = await socket.requests.next();
  expect(request).toMatchObject({ name: "get_file_urls", parameters: { file_ids: ["a", "b"] } });
  socket.answer(request, { file_urls: { a: "/files/a?signature=s" } });
  const address = `${server.url}/chat/files/a?signature=s`;
  expect(await urls).toEqual([address, undefined, address]);
  const again = app.client.fileUrl("a");
  socket.answer(await socket.requests.next(), { file_urls: { a: "/files/a?signature=t" } });
  expect(await again).toEndWith("signature=t"); // as addresses expire
  const below = app.client.fileUrl("a");
  socket.answer(await socket.requests.next(), { file_urls: { a: "http://upstream:7/chat/files/a?signature=s" } });
  expect(await below).toBe(address); // of a server that knows its path
});

test("more addresses than a request may ask for are asked for in several", async () => {
  using server = startFakeServer();
  using opened = await connected(server);
  const { app, socket } = opened;
  const urls = Promise.all(Array.from({ length: 101 }, (_, index) => app.client.fileUrl(`f${index}`)));
  for (const count of [100, 1]) {
    const request = await socket.requests.next();
    const { file_ids } = request.parameters;
    expect(file_ids).toHaveLength(count);
    socket.answer(request, { file_urls: Object.fromEntries([file_ids].flat().map((id) => [id, `/files/${id}`])) });
  }
  expect(new Set(await urls).size).toBe(101);
});

test("without a connection an address is refused, and so is a file that nobody names", async () => {
  using server = startFakeServer();
  using opened = await connected(server);
  const { app, socket } = opened;
  const download = app.client.download("a").catch((thrown: unknown) => thrown);
  socket.answer(await socket.requests.next(), { file_urls: {} });
  expect(await download).toBeInstanceOf(HeraldRequestError);
  expect(await download).toMatchObject({ status: 404, code: "file_not_found" });
  app.client.stop();
  expect(app.client.fileUrl("a")).rejects.toThrow("not connected");
});
