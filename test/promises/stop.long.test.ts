import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { connect } from "node:net";
import { expectClosed } from "../harness/clients/socket.ts";
import type { Event } from "../harness/clients/wire.ts";
import { eventually, within } from "../harness/deadline.ts";
import { errorsLogged, type Herald, startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const idOf = ({ message, system_message: system }: Event) => message?._id ?? system?._id;

/** Begins a request whose body never ends. Resolves once the server has accepted it. */
async function beginUpload(herald: Herald): Promise<Disposable> {
  const { hostname, port } = new URL(herald.url);
  const socket = connect(Number(port), hostname).on("error", () => undefined);
  const head = `POST /admin/message HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nAdmin-Api-Key: ${herald.key}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`;
  const taken = new Promise<void>((resolve) => socket.once("data", () => resolve()));
  socket.write(head);
  await within(taken, "100 Continue");
  return { [Symbol.dispose]: () => void socket.destroy() };
}

describe("a server told to stop", () => {
  test("answers what it has accepted, plays it to every connection, and only then closes them: sockets with 1012", async () => {
    await using herald = await startHerald();
    const org = await createOrganization(herald);
    const cid = await org.conversation(["alice", "bob"]);
    const sockets = await Promise.all(Array.from({ length: 5 }, () => org.socket("bob")));
    const streams = await Promise.all(Array.from({ length: 5 }, () => org.sse("bob")));
    const heard = sockets[0];
    const sends = Array.from({ length: 300 }, (_, index) =>
      index % 2 === 0
        ? org.send("alice", { cid, body: "x" }).then(({ status, body }) => ({ status, id: body.ask?.server_mid }))
        : org.sendSystem("alice", { uids: ["bob"] }).then(({ status, body }) => ({ status, id: body.ack?.mid })),
    );
    const answers = Promise.allSettled(sends);
    await heard?.next();
    const stopped = herald.stop();
    const acknowledged = (await answers).flatMap((answer) =>
      answer.status === "fulfilled" && answer.value.status === 201 ? [answer.value.id] : [],
    );
    for (const socket of sockets) await expectClosed(socket, 1012);
    for (const stream of streams) await within(stream.closed, "the stream to end");
    await stopped;
    for (const { events } of [...sockets, ...streams])
      expect(events.map(idOf).toSorted()).toEqual(acknowledged.toSorted());
    expect(errorsLogged(herald)).toEqual([]);
  });

  test("does not wait for idle connections", async () => {
    await using herald = await startHerald();
    const { hostname, port } = new URL(herald.url);
    const silent = connect(Number(port), hostname);
    const half = connect(Number(port), hostname);
    await new Promise((resolve) => half.write("GET /heal", resolve));
    await (await fetch(`${herald.url}/healthz`, { headers: { Connection: "keep-alive" } })).text();
    await herald.stop();
    silent.destroy();
    half.destroy();
    expect(herald.logs()).not.toContain("aborting requests");
  });

  test("cuts off a request that takes too long, and says so", async () => {
    await using herald = await startHerald();
    using _upload = await beginUpload(herald);
    await herald.stop();
    expect(herald.logLines()).toContainEqual(
      expect.objectContaining({ requests: 1, msg: "aborting requests that took too long" }),
    );
  });

  test("ends at once when told again", async () => {
    await using herald = await startHerald();
    using _upload = await beginUpload(herald);
    const code = herald.exited;
    herald.signal("SIGTERM");
    await eventually(() => herald.logs().includes('"stopping"') || undefined, "the stop to begin");
    // Told repeatedly: within 300 ms, a signal is taken for an echo of the first.
    const ended = await eventually(async () => {
      herald.signal("SIGTERM");
      return await Promise.race([code, Bun.sleep(1)]);
    }, "the end");
    expect(ended).toBe(143);
    expect(herald.logs()).not.toContain('"stopped"');
  });
});
