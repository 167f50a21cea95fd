import { describe, expect, test } from "bun:test";
import { nestedArrays, sendX } from "../../harness/clients/payload.ts";
import { openSocket } from "../../harness/clients/socket.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const names = [
  "REQUEST_BYTES",
  "BODY_CHARACTERS",
  "X_BYTES",
  "ATTACHMENTS",
  "RECIPIENTS",
  "PARTICIPANTS",
  "JSON_DEPTH",
  "FRAME_BYTES",
  "REQUESTS_PER_CONNECTION",
  "USER_REQUESTS",
  "CONNECTIONS_PER_USER",
  "CONNECTIONS_PER_ADDRESS",
  "REQUESTS_PER_SECOND",
  "REQUESTS_BURST",
  "REFUSALS_PER_SECOND",
  "REFUSALS_BURST",
  "RECOVERY_MESSAGES",
  "RECOVERY_DAYS",
  "TOKEN_SECONDS",
];
const herald = useHerald({ env: Object.fromEntries(names.map((name) => [`HERALD_LIMIT_${name}`, "0"])) });

describe("a limit set to 0 is lifted", () => {
  test("for the bytes of a request, the characters of a body, the bytes of x and the attachments", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using alice = await org.socket("alice");
    const file = { name: "a.txt", size: 1, content_type: "text/plain" };
    const answer = await org.send("alice", {
      cid,
      body: "x".repeat(1_500_000),
      x: { k: "x".repeat(50_000) },
      attachments: Array(30).fill(file),
    });
    expect(answer.status).toBe(201);
    expect((await alice.next()).message?.body).toHaveLength(1_500_000);
  });

  test("for the life of a token", async () => {
    const org = await createOrganization(herald());
    const tenYears = 10 * 365 * 24 * 3600;
    using socket = await openSocket(herald().url);
    const response = await socket.request("connect", { token: await org.token("alice", tenYears) });
    expect(Date.parse(response.expires_at ?? "") - Date.now()).toBeGreaterThan((tenYears - 60) * 1000);
    const endless = await herald().admin("POST", org.path("users", "alice", "tokens"), { ttl_seconds: 1e15 });
    expect(endless.status).toBe(422);
  });

  test("for the users of a system message and the participants of a conversation", async () => {
    const org = await createOrganization(herald());
    const uids = Array.from({ length: 12_000 }, (_, index) => `user ${index}`);
    expect((await herald().admin("PUT", org.path("conversations", "room"), { participants: uids })).status).toBe(201);
    expect((await org.sendSystem("user 1", { uids })).status).toBe(201);
  });

  test("for the nesting of JSON, and for the bytes of a frame", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    expect((await sendX(org, cid, `{"k":${nestedArrays(60)}}`)).status).toBe(201);
    using alice = await org.socket("alice");
    alice.send(`{"request":{"ping":{},"id":"big"}}${" ".repeat(100_000)}`);
    expect((await alice.responses.next()).id).toBe("big");
  });

  test("for the requests of a key, of a connection, and the connections of a user and an address", async () => {
    const org = await createOrganization(herald());
    const token = await org.token("alice");
    const sockets = await Promise.all(Array.from({ length: 40 }, () => openSocket(herald().url, { uid: "alice" })));
    for (const socket of sockets) expect((await socket.request("connect", { token })).success).toBe(true);
    const [first] = sockets;
    for (let index = 0; index < 200; index += 1) expect((await first?.request("ping"))?.pong).toEqual({});
    for (let round = 0; round < 25; round += 1) {
      const answers = await Promise.all(Array.from({ length: 100 }, () => herald().admin("GET", org.path())));
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    }
    for (const socket of sockets) socket.terminate();
  });

  test("for what since recovers", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const first = await org.sent("alice", { cid, body: "first" });
    const sent: string[] = [];
    for (let batch = 0; batch < 12; batch += 1) {
      const asks = await Promise.all(Array.from({ length: 100 }, () => org.sent("alice", { cid, body: "x" })));
      sent.push(...asks.map((ask) => ask.server_mid));
    }
    const { socket, response } = await org.connect("bob", { since: first.server_mid });
    using bob = socket;
    expect(response.recovered).toBe(true);
    const heard: string[] = [];
    while (heard.length < sent.length) heard.push((await bob.next()).message?._id ?? "");
    expect(heard.sort()).toEqual(sent.sort());
  });
});
