import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../harness/deadline.ts";
import { reportMissing } from "../harness/engines/installed.ts";
import { type Herald, type LogLine, startHerald, useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const herald = useHerald({ oneNode: "a node logs what it answers itself", env: { HERALD_LOG_LEVEL: "debug" } });

/** The lines of one request. The log may lag slightly behind the response. */
const linesOf = (requestId: string, node: Herald = herald()) =>
  eventually((): LogLine[] | undefined => {
    const lines = node.logLines().filter((line) => line.request_id === requestId);
    return lines.length > 0 ? lines : undefined;
  }, `a line of the request ${requestId}`);

test("each answered request is one line with its id, its route, its key and its organization", async () => {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice"]);
  const message = { organizationId: org.id, senderId: "alice", message: { cid, body: "not for the log" } };
  const byKey = { key_id: "bootstrap" };
  const calls: [method: string, path: string, body: object | undefined, expected: object][] = [
    ["POST", "/admin/message", message, { ...byKey, route: "/admin/message", status: 201, org: org.id, level: 20 }],
    ["POST", "/admin/message", { ...message, senderId: "bob" }, { ...byKey, status: 403, org: org.id, level: 30 }],
    ["POST", "/admin/message", { spare: org.id }, { ...byKey, status: 422, level: 30 }],
    [
      "PUT",
      org.path("users", "bob"),
      {},
      { ...byKey, route: "/admin/organizations/{org}/users/{uid}", status: 201, org: org.id },
    ],
    ["GET", "/docs", undefined, { route: "/docs", status: 200 }],
    ["GET", "/no/such/path", undefined, { route: "unmatched", status: 404 }],
    ["GET", "/healthz", undefined, { route: "/healthz", status: 200, level: 20 }],
  ];
  for (const [method, path, body, expected] of calls) {
    const requestId = `request-${Math.random()}`;
    await herald().admin(method, path, body, { "X-Request-Id": requestId });
    const lines = await linesOf(requestId);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ msg: "request", method, duration_ms: expect.any(Number), ...expected });
    expect(lines[0]?.key_id).toBe("key_id" in expected ? expected.key_id : undefined);
  }
  expect(herald().logs()).not.toContain("not for the log");
  expect(herald().logs()).not.toContain("no/such");
});

test("a socket is one line when it opens, with its connection's id; a stream is one, with its X-Request-Id", async () => {
  const org = await createOrganization(herald());
  const { socket, response } = await org.connect("alice");
  expect(await linesOf(response.connection_id ?? "")).toMatchObject([{ route: "/ws", status: 101, level: 30 }]);
  socket.terminate();
  const stream = await fetch(`${herald().url}/sse`, {
    headers: { Authorization: `Bearer ${await org.token("alice")}` },
  });
  const requestId = stream.headers.get("x-request-id") ?? "";
  expect(await linesOf(requestId)).toMatchObject([{ route: "/sse", status: 200 }]);
  await stream.body?.cancel();
});

test("by default stored sends are not logged, and refusals are", async () => {
  await using node = await startHerald();
  const org = await createOrganization(node);
  const cid = await org.conversation(["alice"]);
  await org.sent("alice", { cid, body: "one" });
  expect((await org.send("bob", { cid, body: "two" })).status).toBe(403);
  await node.stop();
  const sends = node.logLines().filter(({ route }) => route === "/admin/message");
  expect(sends.map(({ status }) => status)).toEqual([403]);
});

test("on a terminal a request is a human-readable line", async () => {
  const script = Bun.which("script");
  if (script === null) return reportMissing("script", "bsdutils");
  const folder = mkdtempSync(join(tmpdir(), "herald-terminal-"));
  const child = Bun.spawn([script, "-qfec", `exec ${process.execPath} src/cli/herald.ts serve`, "/dev/null"], {
    env: {
      ...process.env,
      HERALD_PORT: "0",
      HERALD_DATA_DIR: folder,
      NO_COLOR: "1",
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  let shown = "";
  const reading = (async () => {
    for await (const chunk of child.stdout) shown += new TextDecoder().decode(chunk);
  })();
  const url = await eventually(() => /listening .*"url":"([^"]+)"/.exec(shown)?.[1], "the address on the terminal");
  await fetch(`${url}/docs`, { headers: { "X-Request-Id": "from-a-test" } });
  const line = await eventually(() => /^.*GET \/docs 200.*$/m.exec(shown)?.[0], "a line of the request");
  expect(line.trim()).toMatch(/^\[[\d:.]+\] INFO: GET \/docs 200 in [\d.]+ ms \{"request_id":"from-a-test"\}$/);
  child.kill("SIGTERM");
  await child.exited;
  await reading;
  rmSync(folder, { recursive: true });
});
