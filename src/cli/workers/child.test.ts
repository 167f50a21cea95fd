import { expect, test } from "bun:test";
import { sendIfRunning } from "./child.ts";

const answering = "process.on('message', (message) => process.send(message + '!'));process.send('ready')";

test("a child gets what is sent while it runs; after it was killed, nothing is sent and nothing thrown", async () => {
  const heard: string[] = [];
  let wake = () => {};
  const until = async (text: string) => {
    while (!heard.includes(text)) await new Promise<void>((resolve) => (wake = resolve));
  };
  const child = Bun.spawn([process.execPath, "-e", answering], {
    ipc(text: string) {
      heard.push(text);
      wake();
    },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const send = (text: string) => sendIfRunning(child, text);
  await until("ready");
  send("hello");
  await until("hello!");
  child.kill("SIGKILL");
  await child.exited;
  expect(() => send("again")).not.toThrow();
});
