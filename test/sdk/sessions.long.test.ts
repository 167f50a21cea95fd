import { expect, test } from "bun:test";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { listenWithSdk } from "./listening.ts";

const herald = useHerald({ env: { HERALD_LIMIT_RECOVERY_MESSAGES: "10", HERALD_LIMIT_REQUESTS_PER_SECOND: "0" } });

test("a session is renewed before its token expires, on the same connection, as often as needed", async () => {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice"]);
  let tokens = 0;
  using app = listenWithSdk(org, "alice", herald().url, {
    token: () => {
      tokens += 1;
      return org.token("alice", 2);
    },
  });
  await app.untilConnected();
  const startedAt = performance.now();
  let sent = 0;
  while (tokens < 4) {
    await app.until((await org.sent("alice", { cid, body: "x" })).server_mid);
    sent += 1;
  }
  expect(performance.now() - startedAt).toBeGreaterThan(2_000); // longer than any single token is valid
  expect(app.states.all).toEqual(["connecting", "connected"]);
  expect(app.ids).toHaveLength(sent);
});

test("a session that could not be renewed in time is followed by another, which resumes where it was", async () => {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice"]);
  let isAway = false;
  using app = listenWithSdk(org, "alice", herald().url, {
    token: () => (isAway ? Promise.reject(new Error("the backend is away")) : org.token("alice", 2)),
  });
  await app.untilConnected();
  await app.until((await org.sent("alice", { cid, body: "before" })).server_mid);
  isAway = true;
  await app.states.next((state) => state === "reconnecting 4401", "the end of the session", 10_000);
  const missed = await org.sent("alice", { cid, body: "while the session was over" });
  isAway = false;
  await app.until(missed.server_mid);
  expect(app.messages.all.map(({ body }) => body)).toEqual(["before", "while the session was over"]);
  expect(app.gaps.all).toEqual([]);
});

test("a user who is signed out stays away, even with an earlier token", async () => {
  const org = await createOrganization(herald());
  await org.conversation(["alice"]);
  const token = await org.token("alice");
  using app = listenWithSdk(org, "alice", herald().url, { token: () => token, timing: { refusedTokenMs: 5 } });
  await app.untilConnected();
  await herald().admin("DELETE", org.path("users", "alice", "sessions"));
  expect(await app.states.next((state) => state.startsWith("closed"))).toBe("closed 4403");
  app.client.start();
  expect(await app.states.next((state) => state.startsWith("closed"))).toBe("closed 4401");
});

test("too large a gap is reported, and what it left out can be read, each message once", async () => {
  const org = await createOrganization(herald());
  const rooms = [await org.conversation(["alice", "bob"]), await org.conversation(["alice"])];
  const silent = await org.conversation(["alice"]);
  const elsewhere = await org.conversation(["bob"]);
  using app = listenWithSdk(org, "alice", herald().url);
  await app.untilConnected();
  const known = await org.sent("alice", { cid: silent, body: "known" });
  await app.until(known.server_mid);
  app.client.stop();
  const missed: string[] = [];
  for (let index = 0; index < 130; index++)
    missed.push((await org.sent("alice", { cid: rooms[index % 20 === 0 ? 1 : 0] ?? "", body: `${index}` })).server_mid);
  await org.sent("bob", { cid: elsewhere, body: "none of alice's business" });
  app.client.start();
  const gap = await app.gaps.next();
  expect(gap.since).toBe(known.server_mid);
  const live = await org.sent("alice", { cid: silent, body: "meanwhile" });
  await app.until(live.server_mid);
  const read: string[] = [];
  for await (const { cid, messages } of app.client.listMissed(gap)) {
    expect([...rooms, silent]).toContain(cid);
    expect(messages.map(({ created_at }) => created_at)).toEqual(
      messages.map(({ created_at }) => created_at).sort((left, right) => right.localeCompare(left)),
    );
    read.push(...messages.map(({ _id }) => _id));
  }
  expect(read.toSorted()).toEqual(missed.toSorted());
  expect(app.ids).toEqual([known.server_mid, live.server_mid]);
});
