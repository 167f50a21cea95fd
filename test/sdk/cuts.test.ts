import { expect, test } from "bun:test";
import { startSpoiltLine } from "../harness/clients/spoilt-line.ts";
import { createRandom } from "../harness/random.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { startLoad } from "../harness/servers/load.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { listenWithSdk } from "./listening.ts";

const herald = useHerald({
  env: {
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_REQUESTS_BURST: "0",
    HERALD_LIMIT_RECOVERY_MESSAGES: "100000",
  },
});

const portOf = (url: string) => Number(new URL(url).port);

test("a client whose line is cut repeatedly hears every message once, in the order of one that was never cut", async () => {
  const random = createRandom();
  const org = await createOrganization(herald());
  const cid = await org.conversation(["sender", "alice"]);
  const line = await startSpoiltLine(portOf(herald().url));
  using steady = listenWithSdk(org, "alice", herald().url);
  using unlucky = listenWithSdk(org, "alice", `http://127.0.0.1:${line.port}`);
  await Promise.all([steady.untilConnected(), unlucky.untilConnected()]);
  const first = await org.sent("sender", { cid, body: "the first, which `since` begins with" });
  await unlucky.until(first.server_mid);
  const load = startLoad(org, cid, "sender", 4);
  for (let cut = 0; cut < 12; cut++) {
    const heard = unlucky.ids.length + random.integer(1, 60);
    while (unlucky.ids.length < heard) await unlucky.messages.next();
    line.cut();
    await line.mend();
    await unlucky.untilConnected();
  }
  await load.stop();
  const last = await org.sent("sender", { cid, body: "the last" });
  await Promise.all([steady.until(last.server_mid), unlucky.until(last.server_mid)]);
  expect(unlucky.ids).toEqual(steady.ids);
  expect(new Set(unlucky.ids).size).toBe(load.count() + 2);
  expect(unlucky.states.all.filter((state) => state === "connected")).toHaveLength(13);
  expect(unlucky.gaps.all).toEqual([]);
  line.stop();
});

test("a line that silently swallows everything is noticed and abandoned, and nothing is missed", async () => {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["sender", "alice"]);
  const line = await startSpoiltLine(portOf(herald().url));
  using app = listenWithSdk(org, "alice", `http://127.0.0.1:${line.port}`, {
    timing: { heartbeatMs: 100, requestTimeoutMs: 200 },
  });
  await app.untilConnected();
  await app.until((await org.sent("sender", { cid, body: "before" })).server_mid);
  line.freeze();
  const missed = await org.sent("sender", { cid, body: "into the silence" });
  await app.states.next((state) => state === "reconnecting 1006", "the end of the dead connection");
  await line.mend();
  await app.until(missed.server_mid);
  expect(app.messages.all.map(({ body }) => body)).toEqual(["before", "into the silence"]);
  expect(app.gaps.all).toEqual([]);
  line.stop();
});
