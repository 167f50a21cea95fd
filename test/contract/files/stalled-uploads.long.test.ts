import { expect, test } from "bun:test";
import { connect } from "node:net";
import { within } from "../../harness/deadline.ts";
import { filesOf } from "../../harness/servers/files.ts";
import { startHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

test("an upload that stalls is cut like any other request, and one that goes on slowly is not", async () => {
  await using herald = await startHerald({ env: { HERALD_LIMIT_IDLE_SECONDS: "10" } });
  const org = await createOrganization(herald);
  const { hostname, port } = new URL(herald.url);
  const socket = connect(Number(port), hostname);
  const ended = Promise.withResolvers<void>();
  socket.on("error", () => undefined);
  socket.on("close", () => ended.resolve());
  socket.resume();
  const head = `POST ${org.path("files")}?name=a HTTP/1.1\r\nHost: x\r\nAdmin-Api-Key: ${herald.key}\r\n`;
  socket.write(`${head}Content-Type: text/plain\r\nContent-Length: 1000\r\n\r\nbegun`);
  const slow = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (let count = 0; count < 7; count++) {
        controller.enqueue(Buffer.from("part"));
        await Bun.sleep(2_000);
      }
      controller.close();
    },
  });
  const [uploaded] = await Promise.all([
    filesOf(org).uploaded("b", slow),
    within(ended.promise, "the end of the upload that stalls", 25_000),
  ]);
  expect(uploaded.size).toBe(7 * 4);
}, 40_000);
