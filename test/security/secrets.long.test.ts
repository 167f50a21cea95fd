import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { inspect } from "node:util";
import { $, SQL } from "bun";
import { createAdmin, issueUserToken } from "../../sdk/admin.ts";
import { openSocket } from "../harness/clients/socket.ts";
import { eventually } from "../harness/deadline.ts";
import { findGo } from "../harness/engines/go.ts";
import { startNats } from "../harness/engines/nats.ts";
import { startCollector } from "../harness/engines/otlp.ts";
import { startPostgres } from "../harness/engines/postgres.ts";
import { findPython, keepEnvironment } from "../harness/engines/python.ts";
import { filesOf } from "../harness/servers/files.ts";
import { type Answer, type Herald, startHerald } from "../harness/servers/herald.ts";
import { type ApiKeyWithSecret, createKey } from "../harness/servers/keys.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { type Hook, hooksOf } from "../harness/servers/receiver.ts";
import { createSecretSearch, filesBelow, makeSecret, type SecretSearch } from "./secrets.ts";

setDefaultTimeout(120_000);

const root = resolve(import.meta.dir, "../..");
const folder = mkdtempSync(join(tmpdir(), "herald-secrets-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** What is stored because Herald must sign with it: see `docs/explanation/security.md`. */
const storedSecrets = ["webhook secret", "rotated webhook secret"];

/** Settings with a secret wherever one can hold any; what they lead to refuses them, or is not there. */
function settingsWith({ add }: SecretSearch, store: { port: number }, collector: { url: string }) {
  const otlp = new URL(collector.url);
  otlp.username = "herald";
  otlp.password = add("collector's password", makeSecret("otlp"));
  return {
    HERALD_LOG_LEVEL: "debug",
    HERALD_ADMIN_API_KEY: add("bootstrap key", makeSecret("bootstrap-key")),
    HERALD_TOKEN_SECRET: add("token secret", makeSecret("token-secret")),
    HERALD_TOKEN_SECRET_PREVIOUS: add("previous token secret", makeSecret("earlier-secret")),
    HERALD_METRICS_TOKEN: add("metrics token", makeSecret("metrics-token")),
    HERALD_OUTBOX_URL: `postgres://shop:${add("outbox's password", makeSecret("outbox"))}@127.0.0.1:9/shop`,
    HERALD_TOKEN_JWKS_URL: `http://idp:${add("provider's password", makeSecret("jwks"))}@127.0.0.1:9/keys.json`,
    HERALD_TOKEN_JWKS_ALLOW_PRIVATE: "1",
    HERALD_TOKEN_ISSUER: "https://idp.example.org",
    HERALD_ADMIN_OIDC_ISSUER: "http://127.0.0.1:9",
    HERALD_ADMIN_OIDC_CLIENT_ID: "herald",
    HERALD_ADMIN_OIDC_CLIENT_SECRET: add("client secret", makeSecret("client-secret")),
    HERALD_ADMIN_OIDC_ROLES: '{"groups":{"admins":{"scopes":["*"]}}}',
    HERALD_FILES_URL: "s3://files/prefix",
    HERALD_FILES_S3_ENDPOINT: `http://127.0.0.1:${store.port}`,
    HERALD_FILES_S3_REGION: "us-east-1",
    HERALD_FILES_S3_ACCESS_KEY_ID: "herald",
    HERALD_FILES_S3_SECRET_ACCESS_KEY: add("bucket's secret", makeSecret("s3-secret")),
    HERALD_WEBHOOK_ALLOW_PRIVATE: "1",
    HERALD_OTLP_URL: otlp.href,
  };
}

/** A server that answers everything with this status, as a broken bucket or receiver does. */
function refusing(status: number) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("no", { status }) });
  return { port: server.port ?? 0, [Symbol.dispose]: () => void server.stop(true) };
}

type Run = {
  herald: Herald;
  search: SecretSearch;
  settings: ReturnType<typeof settingsWith>;
  receiver: { port: number };
};

/** Uses every kind of secret, well and badly; returns keys that work and that do not, for the SDKs. */
async function useAll({ herald, search, settings, receiver }: Run): Promise<{ good: string; revoked: string }> {
  const { add, look } = search;
  const seen = (where: string, { text, headers }: Answer<unknown>, except: string[] = []) => {
    look(where, `${text}\n${JSON.stringify([...headers])}`, except);
  };
  const org = await createOrganization(herald);
  const cid = await org.conversation(["alice", "bob"]);

  const good = add("key", (await createKey(herald, { name: "shop" })).key);
  const bound = add("key of an organization", (await createKey(herald, { organization: org.id })).key);
  const old = await createKey(herald, { scopes: ["message:send"] });
  add("old secret", old.key);
  const rotated = await herald.admin<ApiKeyWithSecret>("POST", `/admin/keys/${old.id}/rotate`, {});
  seen("the answer to a rotation", rotated);
  add("rotated key", rotated.body.key);
  const gone = await createKey(herald);
  const revoked = add("revoked key", gone.key);
  seen("the answer to a revocation", await herald.admin("DELETE", `/admin/keys/${gone.id}`));

  const sign = async (secret: string) => (await issueUserToken({ secret, organization: org.id, user: "alice" })).token;
  const tokens = {
    "issued token": await org.token("alice"),
    "signed token": await sign(settings.HERALD_TOKEN_SECRET),
    "token of the previous secret": await sign(settings.HERALD_TOKEN_SECRET_PREVIOUS),
    "forged token": await sign(makeSecret("nobody's-secret-of-32-bytes")),
  };
  for (const [name, token] of Object.entries(tokens)) {
    add(name, token);
    using socket = await openSocket(herald.url);
    await socket.request("connect", { token }).catch(() => undefined);
    look(`frames after ${name}`, socket.frames.join("\n"));
    seen(`/ws?token= with ${name}`, await herald.http("GET", `/ws?token=${token}`));
    seen(`/sse?token= with ${name}`, await herald.http("GET", `/sse?token=${token}`));
  }
  seen("a sign-out", await herald.admin("DELETE", org.path("users", "alice", "sessions")));
  seen(
    "/sse after it",
    await herald.http("GET", "/sse", { headers: { Authorization: `Bearer ${tokens["issued token"]}` } }),
  );

  const hooks = hooksOf(org);
  const url = `http://127.0.0.1:${receiver.port}/hook`;
  const headers = { "Admin-Api-Key": herald.key };
  const hook = await herald.admin<Hook>("PUT", org.path("webhooks", "push"), { url, wait_seconds: 1 }, headers);
  const webhookSecret = add("webhook secret", hook.body.secret ?? "");
  const hookRotated = await herald.admin<Hook>("POST", org.path("webhooks", "push", "rotate"), undefined, headers);
  add("rotated webhook secret", hookRotated.body.secret ?? "");
  seen("a test of a webhook", await hooks.call("POST", ["push", "test"], undefined, herald.key));
  seen("a webhook", await herald.admin("GET", org.path("webhooks", "push")));
  seen("its deliveries", await herald.admin("GET", org.path("webhooks", "push", "deliveries")));
  const inUrl = `http://user:${webhookSecret}@127.0.0.1/`;
  seen("a webhook with a password", await herald.admin("PUT", org.path("webhooks", "bad"), { url: inUrl }));

  const upload = await filesOf(org).upload("a.txt", "bytes", { key: herald.key });
  expect(upload.status).toBeGreaterThanOrEqual(500); // the bucket refuses
  seen("an upload", upload);
  const announced = await org.sent("alice", { cid, body: "x", attachments: [{ name: "later.txt" }] });
  const history = await org.history(cid);
  const fileId = history.find(({ _id }) => _id === announced.server_mid)?.attachments[0]?.file_id ?? "";
  using bob = await org.socket("bob");
  const urls = (await bob.request("get_file_urls", { file_ids: [fileId] }))["file_urls" as never] as
    | Record<string, string>
    | undefined;
  const address = new URL(urls?.[fileId] ?? "", herald.url);
  add("signed address", address.search);
  for (const search of [address.search, `${address.search}x`])
    seen("a signed address", await herald.http("GET", address.pathname + search));

  const wrong = {
    key: bound,
    bootstrap: settings.HERALD_ADMIN_API_KEY,
    "metrics token": settings.HERALD_METRICS_TOKEN,
  };
  for (const [name, secret] of Object.entries({ ...wrong, ...tokens, secret: settings.HERALD_TOKEN_SECRET })) {
    const place = encodeURIComponent(secret);
    const basic = `Basic ${Buffer.from(`user:${secret}`).toString("base64")}`;
    const calls: [method: string, path: string, body?: unknown, headers?: Record<string, string>][] = [
      ["GET", `/admin/organizations?key=${place}`],
      ["GET", `/admin/organizations/${place}`],
      ["GET", org.path("users", secret)],
      ["POST", "/admin/message", { organizationId: org.id, senderId: secret, message: { cid, body: "x" } }],
      ["POST", "/admin/message", { organizationId: org.id, senderId: "bob", "Admin-Api-Key": secret, [secret]: 1 }],
      ["POST", `/admin/keys/${place}/rotate`, {}],
      ["GET", `/nowhere/${place}`],
      ["GET", `/files/${place}`],
      ["GET", org.path(), undefined, { "Admin-Api-Key": `${secret}x`, Authorization: basic, "X-Request-Id": secret }],
      ["GET", org.path(), undefined, { "Admin-Api-Key": "", Authorization: `Bearer ${secret}`, Cookie: `k=${secret}` }],
    ];
    for (const [method, path, body, headers] of calls) {
      const answer = await herald.admin(method, path, body, headers);
      expect({ path, isRefused: answer.status >= 400 }).toMatchObject({ isRefused: true });
      seen(`${name} in ${method} ${path.replace(place, "…")}`, answer);
    }
    seen(
      `metrics with ${name}`,
      await herald.http("GET", "/metrics", { headers: { Authorization: `Bearer ${secret}x` } }),
    );
  }
  const batch = [good, tokens["signed token"]].map((secret) =>
    JSON.stringify({ organizationId: org.id, senderId: secret, message: { cid: secret, body: "x" } }),
  );
  const lines = { ...headers, "Content-Type": "application/x-ndjson" };
  seen("a batch", await herald.http("POST", "/admin/message/batch", { headers: lines, body: batch.join("\n") }));
  await eventually(
    () => herald.logs().includes("HERALD_OUTBOX_URL") || herald.logs().includes("outbox") || undefined,
    "the log to tell of the outbox",
  );
  return { good, revoked };
}

/** Everything that a node tells to whoever asks, or to operators. */
async function outputsOf({ herald, search, settings }: Run, collector: { spans: unknown[] }): Promise<void> {
  const { look } = search;
  for (const path of [
    "/openapi.json",
    "/asyncapi.json",
    "/docs",
    "/healthz",
    "/readyz",
    "/console",
    "/admin/nodes",
    "/admin/self",
  ])
    look(path, (await herald.admin("GET", path)).text);
  look("the keys", (await herald.admin("GET", "/admin/keys")).text);
  look("the audit log", (await herald.admin("GET", "/admin/audit?limit=1000")).text);
  const headers = { Authorization: `Bearer ${settings.HERALD_METRICS_TOKEN}` };
  const metrics = await herald.http("GET", "/metrics", { headers });
  expect(metrics.status).toBe(200);
  look("/metrics", metrics.text);
  await herald.stop();
  look("the log", herald.logs());
  look("the traces", JSON.stringify(collector.spans));
}

/** What the SDKs say and print about a client, and about calls that fail. */
async function askWithSdks(
  url: string,
  keys: { good: string; revoked: string },
  search: SecretSearch,
): Promise<string[]> {
  const { look } = search;
  const asked: string[] = [];
  const withPassword = `http://user:${search.add("password of the server's URL", makeSecret("url"))}@127.0.0.1:9/`;
  const cases = [
    [url, keys.revoked, keys.good],
    [url, keys.good, keys.good],
    ["http://127.0.0.1:9", keys.good, "shop"],
    [withPassword, keys.good, "shop"],
    [url, `${keys.good}\n`, "shop"],
  ] as const;
  for (const [address, key, organization] of cases) {
    const texts: unknown[] = [];
    try {
      const admin = createAdmin({ url: address, key });
      texts.push(admin);
      await admin.getOrganization(organization);
    } catch (error) {
      texts.push(error);
    }
    for (const text of texts)
      look("the TypeScript SDK", `${inspect(text, { depth: 9, showHidden: true })}${String(text)}`);
    asked.push("TypeScript");
  }
  const given = JSON.stringify(cases);
  const python = await findPython();
  if (python !== undefined) {
    const own = await keepEnvironment(python, join(root, "test/sdk-languages/python/requirements.txt"));
    const { stdout } = await $`${own} ${join(import.meta.dir, "sdks/say.py")}`
      .env({ ...process.env, PYTHONPATH: join(root, "sdk-python/src"), CASES: given })
      .quiet();
    look("the Python SDK", stdout.toString());
    asked.push(`Python ${stdout.toString().split("case").length - 1}`);
  }
  const go = await findGo();
  if (go !== undefined) {
    const module = "github.com/herald-im/herald/sdk-go";
    const sdk = join(root, "sdk-go");
    writeFileSync(
      join(folder, "go.mod"),
      `module x\n\ngo 1.24\n\nrequire ${module} v0.0.0\nreplace ${module} => ${sdk}\n`,
    );
    writeFileSync(join(folder, "main.go"), await Bun.file(join(import.meta.dir, "sdks/say.go.txt")).text());
    const { stdout } = await $`${go} run .`
      .cwd(folder)
      .env({ ...process.env, GOFLAGS: "-mod=mod", CASES: given })
      .quiet();
    look("the Go SDK", stdout.toString());
    asked.push(`Go ${stdout.toString().split("case").length - 1}`);
  }
  return asked;
}

test("no secret of a run is in any output or in the embedded database, and in no error of the SDKs", async () => {
  using store = refusing(403);
  using receiver = refusing(500);
  await using collector = startCollector();
  const search = createSecretSearch();
  const settings = settingsWith(search, store, collector);
  await using herald = await startHerald({ key: settings.HERALD_ADMIN_API_KEY, env: settings });
  const run = { herald, search, settings, receiver };
  const keys = await useAll(run);
  const asked = await askWithSdks(herald.url, keys, search);
  await outputsOf(run, collector);
  const files = [...filesBelow(herald.dataDir)];
  for (const [path, bytes] of files) search.look(path, bytes, storedSecrets);
  expect(search.leaks).toEqual([]);
  expect(asked.filter((one) => one === "TypeScript")).toHaveLength(5);
  for (const one of asked) expect(one).toMatch(/TypeScript|Python [1-9]|Go [1-9]/);
  expect(files.map(([path]) => path).join()).toContain(".db");
  expect(search.names.length).toBeGreaterThan(20);
});

const postgres = await startPostgres();
const nats = await startNats("--user", "herald", "--pass", "bus-password-0123456789abcdef0123");
afterAll(async () => {
  postgres?.stop();
  await nats?.stop();
});

test.skipIf(postgres === undefined || nats === undefined)(
  "nor in those of a node with PostgreSQL and a bus that fail for a while, nor in any row or file of the database",
  async () => {
    if (postgres === undefined || nats === undefined) return;
    using store = refusing(503);
    using receiver = refusing(500);
    await using collector = startCollector();
    const search = createSecretSearch();
    search.add("bus's password", "bus-password-0123456789abcdef0123");
    const plain = await postgres.createDatabase();
    const database = new URL(plain);
    database.password = search.add("database's password", makeSecret("database"));
    const settings = {
      ...settingsWith(search, store, collector),
      HERALD_DATABASE_URL: database.href,
      HERALD_BUS_URL: nats.url.replace("//", "//herald:bus-password-0123456789abcdef0123@"),
    };
    await using herald = await startHerald({ key: settings.HERALD_ADMIN_API_KEY, env: settings });
    const run = { herald, search, settings, receiver };
    await useAll(run);
    await nats.outage(async () => {
      await eventually(
        async () => (await herald.http("GET", "/readyz")).text.includes("reconnecting") || undefined,
        "the bus to be missed",
      );
    });
    await postgres.restart(async () => {
      const answer = await herald.admin("GET", "/admin/organizations");
      search.look("an answer without the database", answer.text);
      expect(answer.status).toBe(503);
    });
    await eventually(
      async () => (await herald.http("GET", "/readyz")).status === 200 || undefined,
      "the node to be ready",
      30_000,
    );
    await using sql = new SQL(postgres.asSuperuser(plain));
    const [{ secret: busSecret }] = await sql`SELECT secret FROM bus_secret`;
    search.add("bus secret", busSecret);
    await outputsOf(run, collector);
    const tables =
      await sql`SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`;
    for (const { name } of tables)
      for (const row of await sql.unsafe(`SELECT to_jsonb(t)::text AS row FROM ${name} t`)) {
        const isOfWebhook = /webhook/.test(name);
        search.look(
          `a row of ${name}`,
          row.row,
          isOfWebhook ? storedSecrets : /bus_secret/.test(name) ? ["bus secret"] : [],
        );
      }
    const [{ data_directory: place }] = await sql`SHOW data_directory`;
    for (const [path, bytes] of filesBelow(place)) search.look(path, bytes, [...storedSecrets, "bus secret"]);
    for (const [path, bytes] of filesBelow(herald.dataDir)) search.look(path, bytes);
    expect(search.leaks).toEqual([]);
    expect(tables.length).toBeGreaterThan(20);
  },
);
