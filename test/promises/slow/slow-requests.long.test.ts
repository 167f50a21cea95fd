import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { connect } from "node:net";
import { eventually, within } from "../../harness/deadline.ts";
import { type Herald, startHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

setDefaultTimeout(120_000);

/** What a client sends at first, and then every half second, for ever. */
type Drip = { first: string; again: string };

/**
 * Opens a stream, ends it by a sign-out, and stays silent. Resolves like `drip`: a stream may be silent for long, but
 * not its connection afterwards.
 */
async function outstayStream(herald: Herald, org: Organization): Promise<void> {
  const authorization = `Authorization: Bearer ${await org.token("bob")}`;
  const ended = drip(herald, { first: `GET /sse HTTP/1.1\r\nHost: x\r\n${authorization}\r\n\r\n`, again: "" });
  await eventually(async () => {
    const { body } = await herald.admin<{ count: number }>("GET", `${org.path("online")}?uids=bob&count=true`);
    return body.count === 1 ? true : undefined;
  }, "bob to be online");
  await herald.admin("DELETE", org.path("users", "bob", "sessions"));
  await ended;
}

/** Sends as slowly as told. Resolves once the server has ended the connection. */
async function drip({ url }: Herald, { first, again }: Drip): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const ended = Promise.withResolvers<void>();
  socket.on("error", () => undefined);
  socket.on("close", () => ended.resolve());
  socket.resume(); // with an unread response it would never close
  if (first !== "") socket.write(first);
  const timer = setInterval(() => void socket.write(again), 500);
  try {
    await within(
      ended.promise,
      `the end of a connection that sent ${JSON.stringify(first)}, then ${JSON.stringify(again.slice(0, 20))} again and again`,
      60_000,
    );
  } finally {
    clearInterval(timer);
    socket.destroy();
  }
}

describe("promise 5: a client that sends too slowly is cut, and costs the others nothing", () => {
  test("a connection that sends nothing, a head or a body that comes byte by byte, a stream that was refused or has ended", async () => {
    await using herald = await startHerald({ env: { HERALD_LIMIT_IDLE_SECONDS: "10" } });
    const post = `POST /admin/message HTTP/1.1\r\nHost: x\r\nAdmin-Api-Key: ${herald.key}\r\nContent-Type: application/json\r\n`;
    const drips: Drip[] = [
      { first: "", again: "" },
      { first: "GET /healthz HTTP/1.1\r\n", again: "" },
      { first: "", again: "G" },
      { first: "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ", again: "a" },
      { first: "GET /healthz HTTP/1.1\r\nHost: x\r\n", again: "X-Slow: a\r\n" },
      { first: "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n", again: "X-Slow: a\r\n" },
      { first: `${post}Content-Length: 1000000\r\n\r\n`, again: "" },
      { first: `${post}Content-Length: 1000000\r\n\r\n`, again: " " },
      { first: `${post}Content-Length: 1000000\r\n\r\n`, again: " ".repeat(4000) },
      { first: `${post}Transfer-Encoding: chunked\r\n\r\n`, again: "1\r\n \r\n" },
      { first: "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", again: "" },
      { first: "GET /sse HTTP/1.1\r\nHost: x\r\n\r\n", again: "" },
      { first: "GET /sse HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ", again: "a" },
      { first: "POST /sse HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n", again: " " },
      { first: "GET /ws HTTP/1.1\r\nHost: x\r\n\r\n", again: "" },
    ];
    let isOver = false;
    const org = await createOrganization(herald);
    const slow = drips.flatMap((slow) => Array.from({ length: 20 }, () => drip(herald, slow)));
    const all = Promise.all([...slow, outstayStream(herald, org)]).finally(() => {
      isOver = true;
    });
    const cid = await org.conversation(["alice"]);
    using alice = await org.socket("alice");
    let sent = 0;
    while (!isOver) {
      await org.sent("alice", { cid, body: `${sent}` });
      expect((await alice.next()).message?.body).toBe(`${sent}`);
      sent++;
      await Bun.sleep(50); // enough to see a stall, without causing load itself
    }
    await all;
    expect(sent).toBeGreaterThan(50); // for 10 s at least, about 15 a second
    await org.expectNothingElse(alice);
    await herald.stop();
  });
});
