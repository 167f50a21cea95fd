import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runHerald, startHerald, TEST_KEY } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const folders: string[] = [];
function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "herald-settings-"));
  folders.push(path);
  return path;
}
afterEach(() => {
  for (const path of folders.splice(0)) rmSync(path, { recursive: true, force: true });
});

const names = [
  ...[
    "HOST",
    "PORT",
    "DATA_DIR",
    "NODE_NAME",
    "MIGRATION_URL",
    "ADMIN_API_KEY",
    "TOKEN_SECRET",
    "TOKEN_SECRET_PREVIOUS",
    "TOKEN_JWKS_ALLOW_PRIVATE",
    "TOKEN_JWKS_URL",
    "TOKEN_ISSUER",
    "ADMIN_OIDC_ISSUER",
    "ADMIN_OIDC_CLIENT_ID",
    "ADMIN_OIDC_CLIENT_SECRET",
    "ADMIN_OIDC_ROLES",
    "TLS_CERT",
    "TLS_KEY",
    "TLS_CIPHERS",
    "ALLOWED_ORIGINS",
    "BASE_PATH",
    "TRUSTED_PROXIES",
    "LOG_LEVEL",
    "METRICS_TOKEN",
    "OTLP_URL",
    "TRACE_RATIO",
    "DEMO",
  ],
  ...[
    "REQUEST_BYTES",
    "BODY_CHARACTERS",
    "X_BYTES",
    "ATTACHMENTS",
    "RECIPIENTS",
    "PARTICIPANTS",
    "JSON_DEPTH",
    "FRAME_BYTES",
    "REQUESTS_PER_CONNECTION",
    "CONNECTIONS_PER_USER",
    "CONNECTIONS_PER_ADDRESS",
  ].map((name) => `LIMIT_${name}`),
  ...[
    "ORGANIZATION_FEEDS",
    "CONNECTION_BACKLOG_BYTES",
    "ORGANIZATION_BACKLOG_BYTES",
    "NODE_BACKLOG_BYTES",
    "PING_SECONDS",
    "PONG_SECONDS",
    "IDLE_SECONDS",
    "REQUESTS_PER_SECOND",
    "REQUESTS_BURST",
    "REFUSALS_PER_SECOND",
    "REFUSALS_BURST",
    "RECOVERY_MESSAGES",
    "RECOVERY_DAYS",
    "TOKEN_SECONDS",
  ].map((name) => `LIMIT_${name}`),
].map((name) => `HERALD_${name}`);

const openidClient = {
  HERALD_ADMIN_OIDC_CLIENT_ID: "herald",
  HERALD_ADMIN_OIDC_ROLES: '{"groups":{"admins":{"scopes":["*"]}}}',
};
const bucketKeys = { HERALD_FILES_S3_ACCESS_KEY_ID: "id", HERALD_FILES_S3_SECRET_ACCESS_KEY: "secret" };

/** Expects that each of these prevents the start with one line that names it; returns the lines. */
async function expectRefused(wrong: Record<string, string>[]): Promise<string[]> {
  const told: string[] = [];
  for (const env of wrong) {
    const [name = ""] = Object.keys(env);
    const { code, stdout, stderr } = await runHerald(["serve"], {
      HERALD_PORT: "0",
      HERALD_DATA_DIR: folder(),
      ...env,
    });
    const lines = (stdout + stderr).split("\n").filter((line) => line.trim() !== "");
    expect({ name, code }).not.toEqual({ name, code: 0 });
    expect({ name, lines: lines.length }).toEqual({ name, lines: 1 });
    expect(lines[0]).toContain(name);
    told.push(...lines);
  }
  return told;
}

describe("settings", () => {
  test("are all listed, with their defaults, by herald serve --help", async () => {
    const { code, stdout } = await runHerald(["serve", "--help"]);
    expect(code).toBe(0);
    for (const name of names) expect(stdout).toContain(name);
    for (const value of ["127.0.0.1", "7070", "1048576", "65536", "32768", "10000", "100000", "4194304"])
      expect(stdout.replaceAll(/(?<=\d)[_,](?=\d)/g, "")).toContain(value);
  });

  test("that leave keys and tokens in the clear cause one warning in the log", async () => {
    const warnings = async (env: Record<string, string>) => {
      await using herald = await startHerald({ env });
      await herald.stop();
      return herald.logLines().filter(({ level, msg }) => level === 40 && msg?.includes("plain HTTP"));
    };
    expect(await warnings({ HERALD_HOST: "0.0.0.0" })).toHaveLength(1);
    expect(await warnings({ HERALD_HOST: "0.0.0.0", HERALD_TRUSTED_PROXIES: "127.0.0.1" })).toBeEmpty();
    expect(await warnings({})).toBeEmpty();
  });

  test("that are unknown or invalid prevent the start with one clear line that names them", async () => {
    const wrong: Record<string, string>[] = [
      { HERALD_LIMIT_BODY_CHARS: "10" },
      { HERALD_PORTS: "7070" },
      { HERALD_PORT: "65536" },
      { HERALD_TLS_CIPHERS: "" },
      { HERALD_TLS_CIPHERS: "ALL" },
      { HERALD_TLS_CIPHERS: "TLS_AES_128_GCM_SHA256" },
      { HERALD_TLS_CIPHERS: "ECDHE-RSA-AES128-GCM-SHA256:NONSENSE" },
      { HERALD_PORT: "http" },
      { HERALD_LIMIT_BODY_CHARACTERS: "-1" },
      { HERALD_LIMIT_BODY_CHARACTERS: "many" },
      { HERALD_LIMIT_X_BYTES: "1.5" },
      { HERALD_LIMIT_PING_SECONDS: "0" },
      { HERALD_LOG_LEVEL: "loud" },
      { HERALD_OTLP_URL: "collector:4318" },
      { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" },
      { HERALD_TRACE_RATIO: "1.1" },
      { HERALD_TRACE_RATIO: "1%" },
      { HERALD_DEMO: "yes" },
      { HERALD_BASE_PATH: "herald" },
      { HERALD_BASE_PATH: "//herald" },
      { HERALD_BASE_PATH: "/her ald" },
      { HERALD_BASE_PATH: "/her%61ld" },
      { HERALD_BASE_PATH: "/tools/../herald" },
      { HERALD_BASE_PATH: "/admin" },
      { HERALD_BASE_PATH: "/ws/herald" },
      { HERALD_BASE_PATH: "https://example.org/herald" },
      { HERALD_ALLOWED_ORIGINS: "app.example.org" },
      { HERALD_ALLOWED_ORIGINS: "https://app.example.org/" },
      { HERALD_ALLOWED_ORIGINS: "https://app.example.org,null" },
      { HERALD_ALLOWED_ORIGINS: "null" },
      { HERALD_ALLOWED_ORIGINS: "https://*.example.org" },
      { HERALD_ALLOWED_ORIGINS: "file:///srv/app" },
      { HERALD_TRUSTED_PROXIES: "10.0.0.0/33" },
      { HERALD_TRUSTED_PROXIES: "10.0.0.1,proxy" },
      { HERALD_ADMIN_OIDC_ISSUER: "https://id.example.org" },
      { HERALD_ADMIN_OIDC_ISSUER: "http://id.example.org", ...openidClient },
      { HERALD_ADMIN_OIDC_CLIENT_ID: "herald" },
      { HERALD_ADMIN_OIDC_ROLES: "admins=*" },
      { HERALD_ADMIN_OIDC_ROLES: "{}" },
      { HERALD_ADMIN_OIDC_ROLES: '{"groups":{"admins":{"scopes":["everything"]}}}' },
      { HERALD_TOKEN_JWKS_URL: "not a url" },
      { HERALD_TOKEN_JWKS_URL: "http://id.example.org/jwks.json" },
      { HERALD_TOKEN_JWKS_ALLOW_PRIVATE: "yes" },
      { HERALD_FILES_URL: "/srv/files" },
      { HERALD_FILES_URL: "file://another-machine/files" },
      { HERALD_FILES_URL: "s3:///prefix", ...bucketKeys },
      { HERALD_FILES_URL: "s3://bucket" },
      { HERALD_FILES_URL: "s3://bucket", HERALD_FILES_S3_ACCESS_KEY_ID: "id" },
      { HERALD_FILES_S3_ENDPOINT: "s3.example.org" },
    ];
    await expectRefused(wrong);
  });

  test("that are secret and invalid also prevent the start, with a line that does not show them", async () => {
    const secrets: [name: string, value: string][] = [
      ["HERALD_ADMIN_API_KEY", "brief"],
      ["HERALD_ADMIN_API_KEY", `${"x".repeat(40)} `],
      ["HERALD_ADMIN_API_KEY", "x".repeat(201)],
      ["HERALD_TOKEN_SECRET", "brief"],
      ["HERALD_TOKEN_SECRET_PREVIOUS", "brief"],
      ["HERALD_METRICS_TOKEN", "brief"],
    ];
    const lines = await expectRefused(secrets.map(([name, value]) => ({ [name]: value })));
    expect(secrets.filter(([, value], index) => lines[index]?.includes(value))).toEqual([]);
  });

  test("with white space around them prevent the start, with a line that says where it may come from", async () => {
    const secret = "s3cret-s3cret-s3cret-s3cret-s3cret";
    const wrong: Record<string, string>[] = [
      { HERALD_TOKEN_SECRET: `${secret}\n` },
      { HERALD_TOKEN_SECRET: ` ${secret}` },
      { HERALD_TOKEN_SECRET: `${secret}\u00a0` },
      { HERALD_TOKEN_SECRET_PREVIOUS: `${secret}\r\n` },
      { HERALD_ADMIN_API_KEY: `${secret}\n` },
      { HERALD_METRICS_TOKEN: `${secret}\n` },
      { HERALD_FILES_S3_SECRET_ACCESS_KEY: `${secret}\n` },
      { HERALD_FILES_S3_ACCESS_KEY_ID: `${secret}\n` },
      { HERALD_DATABASE_URL: `postgres://herald:${secret}@127.0.0.1/herald\n` },
      { HERALD_MIGRATION_URL: `postgres://herald:${secret}@127.0.0.1/herald\n` },
      { HERALD_OUTBOX_URL: `postgres://herald:${secret}@127.0.0.1/shop\n` },
      { HERALD_BUS_URL: `nats://herald:${secret}@127.0.0.1\n` },
      { HERALD_TOKEN_ISSUER: "https://id.example.org\n" },
      { HERALD_NODE_NAME: "one " },
      { HERALD_DATA_DIR: "./data\n" },
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318\n" },
    ];
    for (const line of await expectRefused(wrong)) {
      expect(line).toMatch(/ (begins|ends) with white space/);
      expect(line).not.toContain(secret);
    }
  });

  test("in a settings file may have white space around them, which is not part of them", async () => {
    const file = join(folder(), "herald.env");
    writeFileSync(file, "HERALD_LIMIT_ATTACHMENTS = 1  \r\nHERALD_TOKEN_SECRET= s3cret-s3cret-s3cret-s3cret-s3cret \n");
    await using herald = await startHerald({ args: ["--config", file] });
    expect((await herald.admin("GET", "/admin/organizations")).status).toBe(200);
    writeFileSync(file, 'HERALD_TOKEN_SECRET="s3cret-s3cret-s3cret-s3cret-s3cret "\n');
    const refused = await runHerald(["serve", "--config", file], { HERALD_PORT: "0", HERALD_DATA_DIR: folder() });
    expect([refused.code === 0, refused.stderr]).toEqual([false, expect.stringContaining("ends with white space")]);
  });

  test.each(["", "\n", "too-short\n"])("are not taken from a file of secrets that holds %j", async (text) => {
    for (const name of ["token-secret", "key-secret", "admin-api-key"]) {
      const dataDir = folder();
      writeFileSync(join(dataDir, name), text);
      const env = {
        HERALD_PORT: "0",
        HERALD_DATA_DIR: dataDir,
        ...(name !== "admin-api-key" && { HERALD_ADMIN_API_KEY: TEST_KEY }),
      };
      const { code, stdout, stderr } = await runHerald(["serve"], env);
      expect([name, code === 0, stdout + stderr]).toEqual([name, false, expect.stringContaining(join(dataDir, name))]);
      expect(stdout + stderr).not.toMatch(/^\s+at /m);
    }
  });

  test("that Kubernetes makes of a Service prevent the start, with a line that says so", async () => {
    const lines = await expectRefused([
      { HERALD_PORT: "tcp://10.0.0.1:7070" },
      { HERALD_SERVICE_HOST: "10.0.0.1" },
      { HERALD_SERVICE_PORT: "7070" },
      { HERALD_SERVICE_PORT_HTTP: "7070" },
      { HERALD_PORT_7070_TCP: "tcp://10.0.0.1:7070" },
      { HERALD_PORT_7070_TCP_PROTO: "tcp" },
      { HERALD_PORT_7070_TCP_PORT: "7070" },
      { HERALD_PORT_7070_TCP_ADDR: "10.0.0.1" },
      { HERALD_ADMIN_PORT: "tcp://10.0.0.2:7071" },
      { HERALD_NATS_PORT: "tcp://10.0.0.3:4222" },
      { HERALD_NATS_SERVICE_HOST: "10.0.0.3" },
    ]);
    for (const line of lines) expect(line).toContain("enableServiceLinks: false");
    expect(lines[0]).toContain("Service `herald`");
    expect(lines[8]).toContain("Service `herald-admin`");
    expect(lines[10]).toContain("Service `herald-nats`");
  });

  test("outside the range given by the help also prevent the start", () =>
    expectRefused([{ HERALD_LIMIT_IDLE_SECONDS: "9" }, { HERALD_LIMIT_IDLE_SECONDS: "256" }]));

  test("prevent the start if they would remove what `since` may ask for, or ids before their messages", () =>
    expectRefused([
      { HERALD_RETENTION_MESSAGES_DAYS: "7" },
      { HERALD_RETENTION_MESSAGES_DAYS: "30", HERALD_LIMIT_RECOVERY_DAYS: "30" },
      { HERALD_RETENTION_MESSAGES_DAYS: "30", HERALD_LIMIT_RECOVERY_DAYS: "0" },
      { HERALD_RETENTION_IDS_DAYS: "31", HERALD_RETENTION_MESSAGES_DAYS: "30" },
      { HERALD_RETENTION_IDS_DAYS: "0.5" },
      { HERALD_RETENTION_AUDIT_DAYS: "-1" },
    ]));

  test("may keep messages for a day more than `since` reaches back, and ids for as long", async () => {
    const env = { HERALD_RETENTION_MESSAGES_DAYS: "8", HERALD_RETENTION_IDS_DAYS: "8" };
    await using server = await startHerald({ env });
    expect((await server.admin("GET", "/admin/organizations")).status).toBe(200);
  });

  test("that name a port where another server listens prevent the start with a clear line: no two share a port", async () => {
    await using first = await startHerald();
    const { port } = new URL(first.url);
    const { code, stdout, stderr } = await runHerald(["serve"], {
      HERALD_ADMIN_API_KEY: TEST_KEY,
      HERALD_PORT: port,
      HERALD_DATA_DIR: folder(),
    });
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain(port);
    expect(stdout + stderr).not.toMatch(/^\s+at /m);
    await first.stop();
  });

  test("that name an invalid data folder prevent the start with a clear line", async () => {
    const file = join(folder(), "a file");
    writeFileSync(file, "");
    const { code, stdout, stderr } = await runHerald(["serve"], {
      HERALD_ADMIN_API_KEY: TEST_KEY,
      HERALD_PORT: "0",
      HERALD_DATA_DIR: file,
    });
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain(file);
    expect(stdout + stderr).not.toMatch(/^\s+at /m);
  });

  test("may come from a file, overridden by the environment", async () => {
    const file = join(folder(), "herald.env");
    writeFileSync(file, "# comment\n\nHERALD_LIMIT_ATTACHMENTS=1\nHERALD_LIMIT_BODY_CHARACTERS=5\n");
    await using herald = await startHerald({ args: ["--config", file], env: { HERALD_LIMIT_BODY_CHARACTERS: "6" } });
    const org = await createOrganization(herald);
    const cid = await org.conversation(["alice"]);
    const attachment = { name: "a", size: 1, content_type: "text/plain" };
    expect((await org.send("alice", { cid, body: "123456", attachments: [attachment] })).status).toBe(201);
    expect((await org.send("alice", { cid, body: "1234567" })).status).toBe(422);
    expect((await org.send("alice", { cid, attachments: [attachment, attachment] })).status).toBe(422);
    await herald.stop();
    writeFileSync(file, "HERALD_LIMIT_TYPO=1\n");
    const refused = await runHerald(["serve", "--config", file], { HERALD_PORT: "0", HERALD_DATA_DIR: folder() });
    expect(refused.code).not.toBe(0);
    expect(refused.stdout + refused.stderr).toContain("HERALD_LIMIT_TYPO");
  });

  test("without HERALD_ADMIN_API_KEY, the first start creates a key, prints where it is, and lets only the owner read it", async () => {
    const dataDir = folder();
    const file = join(dataDir, "admin-api-key");
    await using first = await startHerald({ dataDir, key: null });
    const key = readFileSync(file, "utf8").trim();
    expect(key).toMatch(/^hk_/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await first.admin("GET", "/admin/organizations", undefined, { "Admin-Api-Key": key })).status).toBe(200);
    await first.stop();
    expect(first.logs()).not.toContain(key);
    expect(first.logs()).toContain(file);
    await using second = await startHerald({ dataDir, key: null });
    expect(readFileSync(file, "utf8").trim()).toBe(key);
    expect((await second.admin("GET", "/admin/organizations", undefined, { "Admin-Api-Key": key })).status).toBe(200);
    await second.stop();
    expect(second.logs()).not.toContain(key);
  });

  test("with HERALD_ADMIN_API_KEY, that key has every right, even after it was changed", async () => {
    const dataDir = folder();
    await using first = await startHerald({ dataDir });
    const org = await createOrganization(first);
    await first.stop();
    const key = "!~another-key-of-visible-ascii-characters~!";
    await using second = await startHerald({ dataDir, key });
    expect((await second.admin("GET", org.path())).status).toBe(200);
    expect((await second.admin("GET", org.path(), undefined, { "Admin-Api-Key": TEST_KEY })).status).toBe(401);
    await second.stop();
  });

  test("leave the log as JSON lines if a machine reads it", async () => {
    const data = folder();
    await using herald = await startHerald({ dataDir: data, env: { HERALD_LOG_LEVEL: "info" } });
    for (const line of herald.logs().split("\n")) expect(() => JSON.parse(line) as unknown).not.toThrow();
    await herald.stop();
  });
});

describe("a restart", () => {
  test("keeps the directory, the messages, the ids of sends, and the tokens", async () => {
    const dataDir = folder();
    await using first = await startHerald({ dataDir });
    const org = await createOrganization(first);
    const cid = await org.conversation(["alice", "bob"]);
    const message = { id: "m-1", cid, body: "x" };
    const before = await org.send("alice", message);
    const token = await org.token("alice");
    const history = await org.history(cid);
    await first.stop();
    await using second = await startHerald({ dataDir });
    const again = await createOrganization(second, org.id);
    const after = await again.send("alice", message);
    expect(after.text).toBe(before.text);
    expect(after.headers.get("idempotent-replayed")).toBe("true");
    expect(await again.history(cid)).toEqual(history);
    const stream = await fetch(`${second.url}/sse`, { headers: { Authorization: `Bearer ${token}` } });
    expect(stream.status).toBe(200);
    await stream.body?.cancel();
    await second.stop();
  });

  test("closes sockets with 1012 and ends streams, so that clients return", async () => {
    await using herald = await startHerald();
    const org = await createOrganization(herald);
    using alice = await org.socket("alice");
    using stream = await org.sse("alice");
    await herald.stop();
    expect((await alice.closed).code).toBe(1012);
    await stream.closed;
  });
});
