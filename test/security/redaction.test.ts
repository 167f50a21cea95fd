import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { openSocket } from "../harness/clients/socket.ts";
import { startCollector } from "../harness/engines/otlp.ts";
import { type Answer, type Herald, startHerald } from "../harness/servers/herald.ts";
import { createKey } from "../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

setDefaultTimeout(60_000);

const bootstrap = 'bootstrap-key-"with\\odd&characters/0123456789';
const metricsToken = "metrics-token-0123456789abcdefghij";
const settings = {
  HERALD_LOG_LEVEL: "debug",
  HERALD_TOKEN_SECRET: "token-secret-0123456789abcdefghijklmno",
  HERALD_TOKEN_SECRET_PREVIOUS: "previous-secret-0123456789abcdefghijkl",
  HERALD_METRICS_TOKEN: metricsToken,
};

/** Everything that a run must keep secret, by name. */
async function secretsOf(herald: Herald, { id: org, token }: Organization) {
  const { HERALD_TOKEN_SECRET: tokenSecret, HERALD_TOKEN_SECRET_PREVIOUS: previousSecret } = settings;
  const key = (await createKey(herald, { scopes: ["message:send"], organization: org })).key;
  const rotated = await createKey(herald);
  return {
    bootstrap,
    metricsToken,
    tokenSecret,
    previousSecret,
    key,
    revoked: rotated.key,
    token: await token("alice"),
    url: "postgres://herald:password-of-a-database@127.0.0.1/herald",
  };
}

/** The names of the secrets in a text, even partial or escaped. */
function found(text: string, secrets: Record<string, string>): string[] {
  const forms = (secret: string) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
  return Object.entries(secrets).flatMap(([name, secret]) =>
    forms(name === "url" ? "password-of-a-database" : secret.slice(-20)).some((form) => text.includes(form))
      ? [name]
      : [],
  );
}

/** Puts a secret wherever a caller can put text. Returns the responses. */
async function putEverywhere(herald: Herald, org: string, secret: string): Promise<Answer<unknown>[]> {
  const place = encodeURIComponent(secret);
  const traceparent = `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-01`;
  const headers = { "X-Request-Id": secret, traceparent, "User-Agent": secret, Referer: secret };
  const message = { id: secret, cid: secret, body: "x", [secret]: 1 };
  const calls: [method: string, path: string, body?: object][] = [
    ["PUT", `/admin/organizations/${place}`, {}],
    ["PUT", `/admin/organizations/${place}/users/${place}`, {}],
    ["PUT", `/admin/organizations/${place}/conversations/${place}`, { participants: [secret] }],
    [
      "POST",
      "/admin/message",
      { organizationId: secret, senderId: secret, message: { ...message, [secret]: undefined } },
    ],
    ["POST", "/admin/message", { organizationId: secret, senderId: secret, message }],
    [
      "POST",
      "/admin/message/system",
      { organizationId: org, senderId: secret, messageSystem: { id: secret, uids: ["a"] } },
    ],
    ["GET", `/admin/organizations/${place}/conversations/${place}/messages?before=${place}`],
    ["GET", `/admin/organizations/${org}/messages/${place}`],
    ["GET", `/admin/audit?organization=${place}&key=${place}`],
    ["GET", `/admin/organizations?cursor=${place}&${place}=${place}`],
    ["POST", "/admin/keys", { name: secret, scopes: [secret], organization: secret }],
    ["POST", `/admin/keys/${place}/rotate`],
    ["DELETE", `/admin/keys/${place}`],
    ["DELETE", `/admin/organizations/${place}/users/${place}/sessions`],
    ["GET", `/${place}`],
    ["GET", `/docs/${place}?${place}`],
    ["GET", `/console/assets/${place}`],
    ["GET", `/sse?since=${place}`],
    ["GET", `/ws?token=${place}`],
    ["GET", "/metrics"],
  ];
  const answers: Answer<unknown>[] = [];
  for (const [method, path, body] of calls) {
    answers.push(await herald.admin(method, path, body, headers));
    answers.push(await herald.admin(method, path, body, { ...headers, "Admin-Api-Key": "x", Authorization: secret }));
  }
  return answers;
}

/** Puts a secret into the lines of a batch and of an import. Returns the reports, which name what they refuse. */
async function putInLines(herald: Herald, org: string, secret: string): Promise<string> {
  const message = { cid: secret, body: "x" };
  const bodies: [path: string, line: object][] = [
    ["/admin/message/batch", { organizationId: org, senderId: secret, message }],
    [`/admin/organizations/${org}/import`, { participant: { cid: secret, uid: "a" } }],
  ];
  const headers = { "Admin-Api-Key": herald.key, "Content-Type": "application/x-ndjson" };
  const answers = bodies.map(([path, line]) =>
    herald.http<string>("POST", path, { headers, body: JSON.stringify(line) }),
  );
  const texts = (await Promise.all(answers)).map(({ text }) => text);
  for (const text of texts) expect(text).toContain('"problem":');
  return texts.join("");
}

async function putInFrames(herald: Herald, token: string, secret: string): Promise<string[]> {
  using socket = await openSocket(herald.url, {
    headers: { Authorization: `Bearer ${token}`, "X-Request-Id": secret },
  });
  const frames = [
    { request: { message_list: { cid: secret, before: secret }, id: "1" } },
    { request: { ack: { ids: [secret] }, id: "2" } },
    { request: { message_list: { cid: "c", [secret]: 1 }, id: "3" } },
    { request: { [secret]: {}, id: "4" } },
    { request: { connect: { token: secret, device_id: secret, since: secret }, id: "5" } },
  ];
  const heard: string[] = [];
  for (const frame of frames) {
    socket.send(frame);
    heard.push(JSON.stringify((await socket.responses.next()).error ?? {}));
  }
  return heard;
}

test("no secret of a run is found in any output, wherever callers have put it", async () => {
  await using collector = startCollector();
  await using herald = await startHerald({ key: bootstrap, env: { ...settings, HERALD_OTLP_URL: collector.url } });
  const org = await createOrganization(herald, "org");
  const secrets = await secretsOf(herald, org);
  const leaks: object[] = [];
  const look = (where: string, text: string) => {
    const names = found(text, secrets);
    if (names.length > 0) leaks.push({ where, names, text: text.slice(0, 300) });
  };
  for (const [name, secret] of Object.entries(secrets)) {
    for (const { status, headers, text } of await putEverywhere(herald, org.id, secret)) {
      const requestId = headers.get("x-request-id") ?? "";
      look(`X-Request-Id, with ${name}`, requestId);
      // What was stored under such a name is shown as it is.
      if (status >= 400) look(`an error, with ${name}`, text);
    }
    look(`a line, with ${name}`, await putInLines(herald, org.id, secret));
    for (const text of await putInFrames(herald, await org.token("alice"), secret))
      if (["key", "revoked", "token"].includes(name)) look(`a frame, with ${name}`, text);
  }
  const metrics = await herald.http<string>("GET", "/metrics", {
    headers: { Authorization: `Bearer ${metricsToken}` },
  });
  expect(metrics.status).toBe(200);
  look("/metrics", metrics.text);
  const audit = await herald.admin("GET", "/admin/audit?limit=1000");
  look("/admin/audit", audit.text);
  await herald.stop();
  look("the log", herald.logs());
  look("the traces", JSON.stringify(collector.spans));
  const [file = ""] = readdirSync(herald.dataDir).filter((name) => name.endsWith(".db"));
  const rows = new Database(join(herald.dataDir, file), { readonly: true }).query("SELECT * FROM audit").all();
  look("the table of the audit log", JSON.stringify(rows));
  expect(leaks).toEqual([]);
  expect([rows.length > 50, collector.spans.length > 50, herald.logs().length > 10_000]).toEqual([true, true, true]);
  // Redacted text leaves its place visible, and a key its id.
  expect(JSON.stringify(rows)).toContain(`hk_${secrets.key.slice(3, 39)}_…`);
});
