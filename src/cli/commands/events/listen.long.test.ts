import { expect, test } from "bun:test";
import { accept, message } from "../../../../sdk/testing/app.ts";
import { startFakeServer } from "../../../../sdk/testing/fake-server.ts";
import { startHeraldCommand } from "../../testing/run-herald.ts";

test("a server that says when to come back is asked again then, also the first time", async () => {
  using server = startFakeServer();
  await using listener = startHeraldCommand(["listen", "--token", "t", "--url", server.url, "--json", "--count", "1"]);
  const reason = "too many connections or requests; retry in 1 s";
  (await server.sockets.next()).close(4429, reason);
  expect((await listener.errorLines.next()).value).toMatch(
    /^the server is busy \(4429 .*; retry in 1 s\), retrying in [12]\.\d s$/,
  );
  const { socket } = await accept(server.sockets);
  expect((await listener.errorLines.next()).value).toBe(`connected to ${server.url}`);
  socket.close(4429, reason);
  expect((await listener.errorLines.next()).value).toMatch(
    /^connection lost \(4429 .*; retry in 1 s\), retrying in [12]\.\d s$/,
  );
  (await accept(server.sockets)).socket.send(message("m1"));
  expect(JSON.parse((await listener.lines.next()).value ?? "")).toEqual(message("m1"));
  expect(await listener.exited).toBe(0);
});

test("a server that does not say when to come back is asked again some seconds later", async () => {
  using server = startFakeServer();
  await using listener = startHeraldCommand(["listen", "--token", "t", "--url", server.url]);
  (await server.sockets.next()).close(4429, "too many connections or requests");
  expect((await listener.errorLines.next()).value).toMatch(
    /^the server is busy \(4429 too many connections or requests\), retrying in [5-9]\.\d s$/,
  );
  await accept(server.sockets);
  expect((await listener.errorLines.next()).value).toBe(`connected to ${server.url}`);
});
