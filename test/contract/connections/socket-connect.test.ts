import { describe, expect, test } from "bun:test";
import { expectClosed, openSocket } from "../../harness/clients/socket.ts";
import type { Noun } from "../../harness/clients/wire.ts";
import { within } from "../../harness/deadline.ts";
import { ISO_MILLISECONDS } from "../../harness/reading/expectations.ts";
import { TEST_TOKEN_SECRET, useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, readList } from "../../harness/servers/organization.ts";
import { goodClaims, signToken } from "../../harness/servers/tokens.ts";

const herald = useHerald({ env: { HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET } });

describe("a WebSocket", () => {
  test("connects by a frame, and is told its identity and expiry", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const token = await org.token("alice", 600);
    using alice = await openSocket(herald().url, { uid: "alice" });
    const response = await alice.request("connect", { token, device_id: "phone" });
    expect(Object.keys(response).sort()).toEqual([
      "connection_id",
      "expires_at",
      "id",
      "organization_id",
      "success",
      "user_id",
    ]);
    expect(response).toMatchObject({ success: true, organization_id: org.id, user_id: "alice" });
    expect(response.connection_id).toBeString();
    expect(response.connection_id).not.toBe("");
    expect(response.expires_at).toMatch(ISO_MILLISECONDS);
    expect(Math.abs(Date.parse(response.expires_at ?? "") - Date.now() - 600_000)).toBeLessThan(60_000);
    await org.expectNothingElse(alice);
  });

  test("is connected at once by Authorization: Bearer on the upgrade, in any case of the scheme", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    for (const scheme of ["Bearer", "bearer", "BEARER"]) {
      using alice = await openSocket(herald().url, {
        headers: { Authorization: `${scheme} ${await org.token("alice")}` },
        uid: "alice",
      });
      await alice.expectSilence();
      const ask = await org.sent("alice", { cid, body: "x" });
      expect((await alice.next()).message?._id).toBe(ask.server_mid);
    }
  });

  test("connected by its header may send connect as well", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const token = await org.token("alice");
    using alice = await openSocket(herald().url, { headers: { Authorization: `Bearer ${token}` }, uid: "alice" });
    expect((await alice.request("connect", { token })).success).toBe(true);
    await org.sent("alice", { cid, body: "x" });
    expect((await alice.next()).message?.body).toBe("x");
    await org.expectNothingElse(alice);
  });

  test("accepts no token from the URL", async () => {
    const org = await createOrganization(herald());
    await org.conversation(["alice"], "c");
    const token = await org.token("alice");
    const answer = await fetch(`${herald().url}/sse?token=${token}`);
    await answer.body?.cancel();
    expect(answer.status).toBeGreaterThanOrEqual(400);
    const plain = await fetch(`${herald().url}/sse?access_token=${token}&authorization=${token}`);
    await plain.body?.cancel();
    expect(plain.status).toBeGreaterThanOrEqual(400);
    expect(herald().logs()).not.toContain(token);
  });

  test("may be one of many of its user, and each hears everything, whatever its device_id", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const connected = await Promise.all(
      [{}, { device_id: "phone" }, { device_id: "phone" }, { device_id: "tablet" }].map((options) =>
        org.connect("alice", options),
      ),
    );
    expect(new Set(connected.map(({ response }) => response.connection_id)).size).toBe(4);
    const ask = await org.sent("bob", { cid, body: "x" });
    await org.sentSystem("bob", { id: "s-1", uids: ["alice"] });
    for (const { socket } of connected) {
      expect((await socket.next()).message?._id).toBe(ask.server_mid);
      expect((await socket.next()).system_message?._id).toBe("s-1");
    }
    await org.expectNothingElse(...connected.map(({ socket }) => socket));
    for (const { socket } of connected) socket.terminate();
  });

  test("hears nothing from before it connected", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    for (let index = 0; index < 5; index += 1) await org.sent("alice", { cid, body: "old" });
    using alice = await org.socket("alice");
    await org.expectNothingElse(alice);
  });

  test("misses nothing that is answered after its connect was, however close", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    let isSending = true;
    const acknowledged: string[] = [];
    const sending = (async () => {
      while (isSending) acknowledged.push((await org.sent("bob", { cid, body: "x" })).server_mid);
    })();
    for (let round = 0; round < 10; round += 1) {
      const { socket } = await org.connect("alice");
      using alice = socket;
      const known = acknowledged.length;
      await within(
        (async () => {
          while (acknowledged.length < known + 5) await alice.next();
        })(),
        "five messages",
      );
      const heard = alice.events.map((event) => event.message?._id);
      // From the first message it hears, it hears every one, including all answered after its connect was.
      const from = acknowledged.indexOf(heard[0] ?? "");
      expect(from).toBeGreaterThanOrEqual(0);
      expect(from).toBeLessThanOrEqual(known + 1);
      expect(heard).toEqual(acknowledged.concat(heard.at(-1) ?? "").slice(from, from + heard.length));
    }
    isSending = false;
    await sending;
  });

  test("with a valid token of an unknown user creates the user, if the organization exists", async () => {
    const org = await createOrganization(herald());
    using newcomer = await openSocket(herald().url, { uid: "newcomer" });
    expect(
      (await newcomer.request("connect", { token: await signToken(goodClaims(org.id, "newcomer")) })).user_id,
    ).toBe("newcomer");
    expect((await readList<Noun>(herald(), org.path("users"))).map((user) => user.id)).toEqual(["newcomer"]);
    await org.expectNothingElse(newcomer);
    using lost = await openSocket(herald().url, { uid: "lost" });
    const response = await lost.request("connect", { token: await signToken(goodClaims("nowhere", "lost")) });
    expect(response.error).toMatchObject({ status: 401, code: "unauthorized" });
    await expectClosed(lost, 4401);
  });

  test("is refused with an explanation if the upgrade is not one", async () => {
    const answer = await herald().http("GET", "/ws");
    expect(answer.status).toBe(400);
  });
});
