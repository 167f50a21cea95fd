import { expect, test } from "bun:test";
import { connect } from "node:net";
import { within } from "../../harness/deadline.ts";
import { useHerald } from "../../harness/servers/herald.ts";

const herald = useHerald();
const body = '{"name":"n"}';

/** Sends the head of a call, and tells what comes back until the connection ends; `write` sends more. */
function begin(expectation: string) {
  const { hostname, port } = new URL(herald().url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  const lines = [`Admin-Api-Key: ${herald().key}`, "Content-Type: application/json", `Content-Length: ${body.length}`];
  const head = [
    "PUT /admin/organizations/waits HTTP/1.1",
    "Host: localhost",
    `Expect: ${expectation}`,
    ...lines,
    "",
    "",
  ];
  let heard = "";
  const answered = Promise.withResolvers<string>();
  socket.on("data", (bytes) => {
    heard += bytes.toString("latin1");
    if (/HTTP\/1\.1 [2-5]\d\d /.test(heard)) answered.resolve(heard);
  });
  socket.on("close", () => answered.resolve(heard));
  const isSent = new Promise((resolve) => socket.write(head.join("\r\n"), resolve));
  return { isSent, write: (text: string) => socket.write(text), answer: within(answered.promise, "an answer", 20_000) };
}

test.each(["100-continue", "100-Continue", "100-CONTINUE"])(
  "a caller that sends its body without waiting for `Expect: %s` is served",
  async (expectation) => {
    const call = begin(expectation);
    await call.isSent;
    call.write(body);
    expect(await call.answer).toMatch(/HTTP\/1\.1 20[01] /);
  },
);

test.each(["100-Continue", "100-CONTINUE"])(
  "a caller that waits for `Expect: %s`, to which the runtime says nothing, is told so in a few seconds",
  async (expectation) => {
    const answer = await begin(expectation).answer;
    expect(answer).toStartWith("HTTP/1.1 400 ");
    expect(answer).toContain("Connection: close");
    expect(answer).toContain("Expect: 100-continue");
  },
);
