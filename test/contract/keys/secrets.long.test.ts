import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { expectClosed, openSocket } from "../../harness/clients/socket.ts";
import { requestSse } from "../../harness/clients/sse.ts";
import { freePort } from "../../harness/engines/free-port.ts";
import { type Herald, runHerald, startHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { goodClaims, signToken } from "../../harness/servers/tokens.ts";

setDefaultTimeout(120_000);

/**
 * Text that must not show up anywhere but where it was put. Each kind has a mark of its own, so that a failure names
 * it.
 */
const marks = {
  key: "canary-key-",
  wrongKey: "canary-wrong-key-",
  tokenSecret: "canary-token-secret-",
  previousSecret: "canary-previous-secret-",
  body: "canary-body-",
  x: "canary-x-",
  attachment: "canary-attachment-",
  query: "canary-query-",
  cookie: "canary-cookie-",
  password: "canary-password-",
};
const secretOf = (mark: string) => mark.padEnd(48, "0123456789abcdef");

/** The marks in a text. */
function found(text: string): string[] {
  return Object.values(marks).filter((mark) => text.includes(mark));
}

const env = {
  HERALD_LOG_LEVEL: "debug",
  HERALD_TOKEN_SECRET: secretOf(marks.tokenSecret),
  HERALD_TOKEN_SECRET_PREVIOUS: secretOf(marks.previousSecret),
};

type Call = { method: string; path: string; takesBody: boolean };

/** Every operation that the server documents. */
async function callsOf(herald: Herald, org: string): Promise<Call[]> {
  const { body } = await herald.http<{ paths: Record<string, Record<string, { requestBody?: unknown }>> }>(
    "GET",
    "/openapi.json",
  );
  return Object.entries(body.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, { requestBody }]) => ({
      method: method.toUpperCase(),
      path: template.replace("{org}", org).replaceAll(/\{[^}]+\}/g, "alice"),
      takesBody: requestBody !== undefined,
    })),
  );
}

/**
 * Bodies with marks in their values (names of members may be in an error's `pointer`): one valid, some invalid, some
 * unreadable.
 */
function bodiesOf(path: string, org: string, cid: string): (string | undefined)[] {
  const content = { x: { member: marks.x }, id: `id-${Math.random()}` };
  const message = {
    ...content,
    cid,
    body: marks.body,
    attachments: [{ name: marks.attachment, size: 1, content_type: "text/plain" }],
  };
  const good: Record<string, object> = {
    "/admin/message": { organizationId: org, senderId: "alice", message },
    "/admin/message/system": { organizationId: org, senderId: "alice", messageSystem: { ...content, uids: ["alice"] } },
  };
  const unfit = {
    organizationId: marks.body,
    spare: marks.body,
    name: [marks.body],
    participants: marks.body,
  };
  const unfitMessage = {
    organizationId: org,
    senderId: "alice",
    message: { ...message, body: { a: marks.body }, x: marks.x, spare: marks.x },
  };
  return [
    JSON.stringify(good[path] ?? { name: "fine" }),
    JSON.stringify(unfit),
    JSON.stringify(unfitMessage),
    `{"name":"${marks.body}`,
    `"${marks.body}"`,
    `{"name":"${marks.body}","name":"${marks.body}","x":1e400}`,
  ];
}

describe("secrets and contents", () => {
  test("sent to every operation, in every place, appear in no log and no error", async () => {
    await using herald = await startHerald({ key: secretOf(marks.key), env });
    const org = await createOrganization(herald);
    const cid = await org.conversation(["alice", "bob"]);
    const calls = await callsOf(herald, org.id);
    expect(calls.length).toBeGreaterThan(20);
    const leaks: object[] = [];
    const ask = async (call: Call, query: string, body: string | undefined, headers: Record<string, string>) => {
      const answer = await herald.http<unknown>(call.method, call.path + query, {
        headers: {
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
          Cookie: `session=${marks.cookie}`,
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
      });
      const told = JSON.stringify([...answer.headers]) + (answer.status < 400 ? "" : answer.text);
      if (found(told).length > 0) leaks.push({ ...call, query, status: answer.status, found: found(told), told });
    };
    // Later calls create again what was deleted, or fail to find it: both paths are worth testing.
    for (const call of calls.sort(
      (one, other) => Number(one.method === "DELETE") - Number(other.method === "DELETE"),
    )) {
      const bodies = call.takesBody ? bodiesOf(call.path, org.id, cid) : [undefined];
      for (const body of bodies) {
        await ask(call, "", body, { "Admin-Api-Key": herald.key });
        await ask(call, "", body, { "Admin-Api-Key": secretOf(marks.wrongKey) });
        await ask(call, `?token=${marks.query}&limit=${marks.query}`, body, { "Admin-Api-Key": herald.key });
        await ask(call, "", body, { Authorization: `Bearer ${herald.key}` });
      }
    }
    expect(leaks).toEqual([]);
    expect(found(herald.logs())).toEqual([]);
    await herald.stop();
    expect(found(herald.logs())).toEqual([]);
  });

  test("sent over a socket and a stream, by good clients and bad ones, appear in no log and no error", async () => {
    await using herald = await startHerald({ key: secretOf(marks.key), env });
    const org = await createOrganization(herald);
    const cid = await org.conversation(["alice", "bob"]);
    const token = await org.token("alice");
    const previous = await signToken(goodClaims(org.id, "alice"), {}, secretOf(marks.previousSecret));
    const forged = await signToken(goodClaims(org.id, "alice"), {}, "another secret of at least thirty-two bytes");
    const tokens = [token, previous, forged];
    const signatures = tokens.map((one) => one.split(".")[2] ?? "");
    const leaked = (text: string) => [...found(text), ...signatures.filter((signature) => text.includes(signature))];

    using alice = await org.socket("alice");
    using stream = await org.sse("bob");
    await org.sent("alice", { cid, body: marks.body, x: { member: marks.x } });
    for (const listener of [alice, stream]) expect((await listener.next()).message?.body).toBe(marks.body);
    for (const one of tokens) {
      using socket = await openSocket(herald.url, { uid: "alice" });
      const response = await socket.request("connect", { token: one, spare: marks.body });
      expect(leaked(JSON.stringify(response.error))).toEqual([]);
      const plain = await socket.request("connect", { token: one });
      expect(leaked(JSON.stringify(plain))).toEqual([]);
      const byQuery = await fetch(`${herald.url}/sse?token=${one}&key=${herald.key}`);
      expect([byQuery.status, leaked(await byQuery.text())]).toEqual([401, []]);
    }
    using header = await openSocket(herald.url, { headers: { Authorization: `Bearer ${forged}` }, uid: "alice" });
    await expectClosed(header, 4401);
    const refused = await requestSse(herald.url, { Authorization: `Bearer ${forged}`, "Last-Event-ID": marks.query });
    if ("sse" in refused) throw new Error("a stream was granted");
    expect(leaked(refused.refused.text)).toEqual([]);
    for (const frame of [
      `{"request":"${marks.body}`,
      { request: { ping: marks.body, id: "1" } },
      { request: { message_list: { cid: marks.body, spare: marks.x }, id: "2" } },
    ]) {
      alice.send(frame);
      expect(leaked(JSON.stringify(await alice.responses.next()))).toEqual([]);
    }
    await org.expectNothingElse(alice, stream);
    await herald.stop();
    expect(leaked(herald.logs())).toEqual([]);
  });

  test("in the URLs of the database and the bus appear in no log and no error when those are away", async () => {
    const database = `postgres://herald:${marks.password}@127.0.0.1:${freePort()}/herald`;
    const { code, stdout, stderr } = await runHerald(["serve"], {
      HERALD_PORT: "0",
      HERALD_ADMIN_API_KEY: secretOf(marks.key),
      HERALD_DATABASE_URL: database,
      ...env,
    });
    expect(code).not.toBe(0);
    expect(found(stdout + stderr)).toEqual([]);
    await using herald = await startHerald({
      key: secretOf(marks.key),
      env: { ...env, HERALD_BUS_URL: `nats://herald:${marks.password}@127.0.0.1:${freePort()}` },
    });
    await herald.admin("GET", "/admin/nodes");
    await herald.stop();
    expect(found(herald.logs())).toEqual([]);
  });
});
