import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config.ts";
import { patternStream } from "../files/pattern.ts";
import { eventually } from "../harness/deadline.ts";
import { findDeployTools } from "../harness/engines/deploy-tools.ts";
import { freePort } from "../harness/engines/free-port.ts";
import { reportMissing } from "../harness/engines/installed.ts";
import { useEngines } from "../harness/engines.ts";
import { messageOf } from "../harness/reading/expectations.ts";
import { startCluster } from "../harness/servers/cluster.ts";
import { filesOf } from "../harness/servers/files.ts";
import { callsTo, TEST_KEY } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

/** How long Herald takes to stop at most, in seconds: docs/how-to/run-as-a-service.md. */
const drainSeconds = 12;

type Service = {
  image: string;
  environment?: Record<string, string | number>;
  read_only?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  privileged?: boolean;
  stop_grace_period: string;
  healthcheck: { test: string[] };
  ports?: { host_ip?: string; target: number }[];
  deploy: { resources: { limits: { memory: string; pids: number } } };
};

const folder = mkdtempSync(join(tmpdir(), "herald-compose-"));
afterAll(() => rmSync(folder, { recursive: true }));
cpSync("deploy/compose", folder, { recursive: true, filter: (path) => !path.endsWith("/secrets") });
const made = Bun.spawnSync([join(folder, "secrets.sh")]);

const tools = await findDeployTools();
const engines = await useEngines();
const nginx = Bun.which("nginx") ?? reportMissing("nginx", "nginx-light");

/** What compose makes of the file. Throws if it does not conform to the specification, or is not consistent. */
function readCompose(file: string): { text: string; services: Record<string, Service> } {
  const { exitCode, stdout, stderr } = Bun.spawnSync([tools?.compose ?? "", "-format", "json", join(folder, file)], {
    cwd: folder,
  });
  if (exitCode !== 0) throw new Error(stderr.toString());
  const text = stdout.toString();
  const { services }: { services: Record<string, Service> } = JSON.parse(text);
  return { text, services };
}

describe.if(tools !== undefined).each(["one-node.yaml", "cluster.yaml"])("%s", (file) => {
  test("conforms to the compose specification, and hardens and bounds every service", () => {
    for (const [name, service] of Object.entries(readCompose(file).services)) {
      expect({ name, ...service }).toMatchObject({
        read_only: true,
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
        healthcheck: { test: expect.arrayContaining(["CMD"]) },
        deploy: { resources: { limits: { memory: expect.stringMatching(/^\d+[MG]$/), pids: expect.any(Number) } } },
      });
      expect({ name, added: service.cap_add, isPrivileged: service.privileged ?? false }).toEqual({
        name,
        added: undefined,
        isPrivileged: false,
      });
    }
  });

  test("gives Herald settings that it accepts, and the time to drain, and opens only the proxy to others", () => {
    for (const [name, service] of Object.entries(readCompose(file).services)) {
      const isOpen = service.ports?.some(({ host_ip: address }) => address !== "127.0.0.1") ?? false;
      expect({ name, isOpen }).toEqual({ name, isOpen: name === "proxy" });
      if (!service.image.startsWith("herald")) continue;
      expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThan(drainSeconds);
      const settings = Object.entries(service.environment ?? {}).map(([setting, value]) => [setting, String(value)]);
      const given = file === "cluster.yaml" ? join(folder, "secrets/herald.env") : undefined;
      expect(() => loadConfig(Object.fromEntries(settings), given)).not.toThrow();
    }
  });
});

describe("secrets.sh", () => {
  test("makes secrets that others on the machine cannot reach, and that are in no container's environment", () => {
    expect(made.exitCode).toBe(0);
    expect(statSync(join(folder, "secrets")).mode & 0o777).toBe(0o700);
    const { HERALD_ADMIN_API_KEY: key, HERALD_BUS_URL: bus } = loadConfig({}, join(folder, "secrets/herald.env"));
    const password = readFileSync(join(folder, "secrets/postgres-password"), "utf8");
    for (const secret of [key, new URL(bus ?? "").password, password]) {
      expect(secret?.length).toBeGreaterThanOrEqual(48);
      if (tools !== undefined) expect(readCompose("cluster.yaml").text).not.toContain(secret ?? "");
    }
  });

  test("keeps the secrets that exist", () => {
    const before = readFileSync(join(folder, "secrets/herald.env"), "utf8");
    expect(Bun.spawnSync([join(folder, "secrets.sh")]).exitCode).toBe(0);
    expect(readFileSync(join(folder, "secrets/herald.env"), "utf8")).toBe(before);
  });
});

/** Starts nginx with the settings of the cluster, which then lead to these nodes, and waits until it answers. */
async function startProxy(program: string, publicUrls: string[], internalUrls: string[]) {
  const [site, internal, health] = [freePort(), freePort(), freePort()];
  const serversOf = (urls: string[]) => urls.map((url) => `server ${new URL(url).host} max_fails=1 fail_timeout=2s;`);
  const text = readFileSync(join(folder, "nginx.conf"), "utf8")
    .replace(/(server \S+:7070 [^;]+;\s*)+/, serversOf(publicUrls).join("\n"))
    .replace(/(server \S+:7071 [^;]+;\s*)+/, serversOf(internalUrls).join("\n"))
    .replace("listen 8080", `listen 127.0.0.1:${site}`)
    .replace("listen 7071", `listen 127.0.0.1:${internal}`)
    .replace("listen 127.0.0.1:8081", `listen 127.0.0.1:${health}`)
    .replaceAll("/tmp/", `${folder}/`);
  const file = join(folder, "nginx.here.conf");
  writeFileSync(file, text);
  const child = Bun.spawn([program, "-c", file, "-g", "daemon off;"], { stdout: "ignore", stderr: "ignore" });
  const isUp = async () => (await fetch(`http://127.0.0.1:${health}`).catch(() => undefined))?.ok || undefined;
  await eventually(isUp, "nginx to answer");
  const dispose = async () => {
    child.kill();
    await child.exited;
  };
  const urls = { site: `http://127.0.0.1:${site}`, internal: `http://127.0.0.1:${internal}` };
  return { ...urls, [Symbol.asyncDispose]: dispose };
}

describe.if(engines !== undefined && nginx !== undefined)("nginx in front of a cluster", () => {
  test("passes clients to the public addresses, programs to the internal ones, and a send to a node that is up", async () => {
    if (engines === undefined || nginx === undefined) return;
    const env = () => ({
      HERALD_ADMIN_PORT: "0",
      HERALD_TRUSTED_PROXIES: "127.0.0.1",
      HERALD_FILES_URL: `file://${join(folder, "files")}`,
    });
    await using cluster = await startCluster({ nodes: 2, ...engines, env });
    const internals = cluster.nodes.map(({ herald }) => {
      const { admin_url: url } = herald.logLines().find(({ msg }) => msg === "listening") ?? {};
      return String(url).replace(/\/$/, "");
    });
    const urls = cluster.nodes.map(({ url }) => url);
    await using proxy = await startProxy(nginx, urls, internals);
    const { http, admin } = callsTo(proxy.internal, { key: TEST_KEY });
    const org = await createOrganization({ ...cluster.node(0).herald, url: proxy.site, http, admin });
    expect((await fetch(`${proxy.site}/admin/nodes`)).status).toBe(404);
    expect((await fetch(`${proxy.site}/metrics`)).status).toBe(404);

    const cid = await org.conversation(["alice", "bob", "carol"]);
    const [bob, carol] = [await org.socket("bob"), await org.sse("carol")];
    const { server_mid } = await org.sent("alice", { cid, body: "through the proxy" });
    expect(messageOf(await bob.next())._id).toBe(server_mid);
    expect(messageOf(await carol.next())._id).toBe(server_mid);

    const file = await filesOf(org).uploaded("large.bin", patternStream(20_000_000));
    await org.sent("alice", { cid, attachments: [{ name: "large.bin", file_id: file.file_id }] });
    expect(readdirSync(join(folder, "body"), { recursive: true })).toEqual([]); // none of it in the memory of /tmp
    const headers = { Authorization: `Bearer ${await org.token("bob")}` };
    const download = await fetch(`${proxy.site}/files/${file.file_id}`, { headers });
    expect((await download.bytes()).length).toBe(20_000_000);

    await cluster.node(0).stop();
    for (let count = 0; count < 20; count++) await org.sent("alice", { cid, body: `after ${count}` });
    const logs = cluster.nodes.map(({ herald }) => herald.logs()).join("\n");
    expect(logs).not.toContain("X-Forwarded-For");
  });
});
