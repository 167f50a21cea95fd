import { expect, setDefaultTimeout, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { openSocket } from "../harness/clients/socket.ts";
import { eventually } from "../harness/deadline.ts";
import { startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

test("the line of a refused call has its code, and that of another has none", async () => {
  await using node = await startHerald();
  const org = await createOrganization(node);
  const cid = await org.conversation(["alice"]);
  await org.send("bob", { cid, body: "x" });
  await node.http("GET", "/nowhere");
  await node.http("HEAD", "/nowhere");
  await node.admin("HEAD", org.path("users", "nobody"));
  await node.admin("HEAD", "/files/nothing");
  await node.http("GET", "/sse");
  await node.stop();
  const codes = node.logLines().flatMap(({ msg, status, code }) => (msg === "request" ? [[status, code]] : []));
  expect(codes).toContainEqual([403, "sender_not_participant"]);
  expect(codes.filter(([, code]) => code === "not_found")).toHaveLength(2);
  expect(codes).toContainEqual([404, "user_not_found"]);
  expect(codes).toContainEqual([404, "file_not_found"]);
  expect(codes).toContainEqual([401, "unauthorized"]);
  for (const [status, code] of codes) expect(code === undefined).toBe(Number(status) < 400);
});

test("a refused token is logged with the reason, once however many there are", async () => {
  await using node = await startHerald();
  const org = await createOrganization(node);
  const token = `${await org.token("alice")}x`;
  for (let count = 0; count < 20; count++) {
    const socket = await openSocket(node.url);
    socket.send({ request: { connect: { token }, id: "1" } });
    await socket.closed;
  }
  await node.stop();
  const told = node.logLines().filter(({ msg }) => msg === "refused a user token");
  expect(told).toHaveLength(1);
  expect(told[0]).toMatchObject({ level: 30, code: "unauthorized" });
  expect(told[0]?.reason).toContain("signature");
  expect(node.logs()).not.toContain(token);
});

test.skipIf(process.platform !== "linux")(
  "a process without file descriptors says so, and when it has some again",
  async () => {
    await using node = await startHerald({ prefix: ["bash", "-c", 'ulimit -n 100; exec "$@"', "-"] });
    const told = () => node.logLines().filter(({ dependency }) => dependency === "file descriptors");
    const { hostname, port } = new URL(node.url);
    const sockets: Socket[] = [];
    for (let count = 0; count < 150; count++) {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => undefined);
      sockets.push(socket);
    }
    const line = await eventually(() => told()[0], "the warning");
    expect(line).toMatchObject({ level: 40, msg: expect.stringContaining("LimitNOFILE") });
    for (const socket of sockets) socket.destroy();
    await eventually(() => told()[1], "the line that there are some again");
    expect(told().map(({ level }) => level)).toEqual([40, 30]);
  },
);
