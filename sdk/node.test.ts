import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accept, message } from "./testing/app.ts";
import { startFakeServer } from "./testing/fake-server.ts";

const program = `
import { createClient } from "./index.js";
import { createAdmin, HeraldApiError } from "./admin.js";
const options = { url: process.argv[2], token: () => "t", onMessage: show, onSystemMessage: show };
function show({ _id }) {
  console.log(_id);
  client.stop();
}
let error;
const { WebSocket } = globalThis;
globalThis.WebSocket = undefined;
try { createClient(options).start(); } catch (thrown) { error = thrown; }
console.log(error?.constructor.name, error?.message.includes("ws"));
const failure = await createAdmin({ url: process.argv[2], key: "k", retries: 0 }).getUser("o", "u").catch((thrown) => thrown);
console.log(failure instanceof HeraldApiError, failure.code);
const client = createClient({ ...options, WebSocket });
client.start();
`;

test("in Node it works with a WebSocket that is handed in, says so without one, and lets the process end", async () => {
  using server = startFakeServer();
  const folder = mkdtempSync(join(tmpdir(), "herald-sdk-"));
  try {
    const built = await Bun.build({
      entrypoints: ["index.ts", "admin.ts"].map((name) => join(import.meta.dir, name)),
      target: "browser",
      format: "esm",
    });
    for (const output of built.outputs) writeFileSync(join(folder, output.path), await output.text());
    writeFileSync(join(folder, "program.mjs"), program);
    const command = ["node", "--experimental-websocket", "--no-warnings", join(folder, "program.mjs"), server.url];
    const node = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
    const { socket } = await accept(server.sockets);
    socket.send(message("m1"));
    const [code, stdout, stderr] = await Promise.all([
      node.exited,
      new Response(node.stdout).text(),
      new Response(node.stderr).text(),
    ]);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: "TypeError true\ntrue not_herald\nm1\n",
      stderr: "",
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
