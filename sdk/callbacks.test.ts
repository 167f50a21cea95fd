import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "./client.ts";
import { accept, message, startClient } from "./testing/app.ts";
import { startFakeServer } from "./testing/fake-server.ts";
import { createQueue } from "./testing/queue.ts";

const program = `
import { createClient } from "./index.js";
const fail = (name) => async () => { throw new Error(name); };
const client = createClient({
  url: process.argv[2],
  token: () => "t",
  since: "m0",
  onMessage: fail("onMessage"),
  onSystemMessage: fail("onSystemMessage"),
  onMessageEdit: fail("onMessageEdit"),
  onMessageAppend: fail("onMessageAppend"),
  onMessageDelete: fail("onMessageDelete"),
  onMessageRead: fail("onMessageRead"),
  onGap: fail("onGap"),
  onStateChange: (state) => (state === "connected" ? fail("onStateChange")() : undefined),
  ...(process.argv[3] === "heard" && { onError: (error) => console.log(error.message) }),
  ...(process.argv[3] === "rejects" && { onError: fail("onError") }),
});
client.conversation("c").subscribe(() => { throw new Error("listener"); });
client.presence("bob", fail("presence"));
client.start();
process.on("SIGTERM", () => client.stop());
`;

const names = [
  "onMessage",
  "onSystemMessage",
  "onMessageEdit",
  "onMessageAppend",
  "onMessageDelete",
  "onMessageRead",
  "onGap",
];

test.each(["heard", "unheard", "rejects"])("in Node, a callback that rejects ends nothing (%s)", async (kind) => {
  using server = startFakeServer();
  const folder = mkdtempSync(join(tmpdir(), "herald-sdk-"));
  try {
    const built = await Bun.build({ entrypoints: [join(import.meta.dir, "index.ts")], target: "browser" });
    for (const output of built.outputs) writeFileSync(join(folder, "index.js"), await output.text());
    writeFileSync(join(folder, "program.mjs"), program);
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    const command = ["node", "--experimental-websocket", "--no-warnings", "program.mjs", server.url, kind];
    const node = Bun.spawn(command, { cwd: folder, stdout: "pipe", stderr: "pipe" });
    const { socket } = await accept(server.sockets, { recovered: false });
    const from = { from: "alice", cid: "c", x: {}, t: 1 };
    for (const frame of [
      message("m1"),
      { system_message: { ...from, _id: "s1" } },
      { message_edit: { ...from, id: "m1", body: "" } },
      { message_append: { ...from, id: "m1", offset: 0, text: "", done: true } },
      { message_delete: { ...from, ids: ["m1"], type: "all" } },
      { message_read: { ...from, ids: ["m1"] } },
      { last_activity: { bob: 0 } },
    ])
      socket.send(frame);
    // A request that comes after all of that shows that the client lives on.
    for (let request = await socket.requests.next(); ; request = await socket.requests.next()) {
      socket.answer(request, request.name === "message_list" ? { messages: [message("m0").message] } : {});
      if (request.name === "message_list") break;
    }
    socket.send(message("m2"));
    const printed = kind === "heard" ? node.stdout : node.stderr;
    let text = "";
    const awaited = kind === "rejects" ? ["onError"] : [...names, "onStateChange", "listener", "presence"];
    const decoder = new TextDecoder();
    for await (const bytes of printed) {
      text += decoder.decode(bytes, { stream: true });
      if (awaited.every((name) => text.includes(name))) node.kill("SIGTERM"); // and it prints to its end
    }
    expect(awaited.filter((name) => !text.includes(name))).toEqual([]);
    expect([await node.exited, node.signalCode]).toEqual([0, null]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("one listener that throws silences no other", async () => {
  using server = startFakeServer();
  using app = startClient({ url: server.url, since: "m0" });
  const { socket } = await accept(server.sockets, { recovered: true, user_id: "bob" });
  await app.states.take(2);
  const heard = createQueue<string>();
  const view = app.client.conversation("c");
  view.subscribe(() => {
    throw new Error("in a listener");
  });
  view.subscribe(() => heard.push("second"));
  for (let name = ""; name !== "message_list"; ) {
    const request = await socket.requests.next();
    name = request.name;
    socket.answer(request, name === "message_list" ? { messages: [message("m0").message] } : { conversations: [] });
  }
  expect(await heard.next()).toBe("second");
  expect(await app.errors.next()).toMatchObject({ message: "in a listener" });
});

test.each(["connecting", "connected"])(
  "stop within onStateChange of %s stops, and nothing is told afterwards",
  async (when) => {
    using server = startFakeServer();
    const told: string[] = [];
    const stopped = Promise.withResolvers<void>();
    const client = createClient({
      url: server.url,
      token: () => "token",
      since: "m0",
      onStateChange(state) {
        told.push(state);
        if (state === when) client.stop();
        if (state === "stopped") stopped.resolve();
      },
      onGap: () => told.push("gap"),
    });
    client.start();
    if (when === "connected") await accept(server.sockets, { recovered: false });
    await stopped.promise;
    await new Promise(setImmediate);
    expect(told).toEqual(when === "connecting" ? ["connecting", "stopped"] : ["connecting", "connected", "stopped"]);
    expect(client.state).toBe("stopped");
  },
);
