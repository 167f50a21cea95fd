import { expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { memoryOf } from "../../bench/harness/meter.ts";
import { eventually } from "../harness/deadline.ts";
import { useHerald } from "../harness/servers/herald.ts";

const herald = useHerald({ oneNode: "memory is a node's own" });
const mebibyte = 2 ** 20;
const callersAtOnce = 200;
const bodyBytes = 1_000_000;

/** Sends a complete body with an unknown key. */
async function post(path: string) {
  const { hostname, port, host } = new URL(herald().url);
  const socket = connect(Number(port), hostname);
  const heard = { answered: false, cut: false };
  socket.on("error", () => undefined);
  socket.on("close", () => {
    heard.cut = true;
  });
  socket.on("data", () => {
    heard.answered = true;
  });
  await once(socket, "connect");
  const lines = ["Admin-Api-Key: hk_wrong", "Content-Type: application/json", `Content-Length: ${bodyBytes}`];
  socket.write([`POST ${path} HTTP/1.1`, `Host: ${host}`, ...lines, "", ""].join("\r\n"));
  socket.write(Buffer.alloc(bodyBytes, "x"));
  return { heard, isSent: () => socket.writableLength === 0, end: () => socket.destroy() };
}

test("two hundred bodies of a megabyte with a wrong key are read and dropped while their answers wait: no connection is closed, and no memory is used", async () => {
  await (await post("/admin/message")).end();
  const { pid } = herald();
  const before = memoryOf(pid);
  const callers = await Promise.all(Array.from({ length: callersAtOnce }, () => post("/admin/message")));
  await eventually(() => callers.every(({ isSent }) => isSent()) || undefined, "the bodies to be taken");
  expect(callers.filter(({ heard }) => heard.cut)).toEqual([]);
  expect(memoryOf(pid) - before).toBeLessThan(128 * mebibyte); // 190 MiB if they were held; up to 108 of garbage was measured
  await eventually(() => callers.every(({ heard }) => heard.answered) || undefined, "all to be answered");
  expect(callers.filter(({ heard }) => heard.cut)).toEqual([]);
  for (const { end } of callers) end();
});
