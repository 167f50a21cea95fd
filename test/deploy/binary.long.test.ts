import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import packageJson from "../../package.json" with { type: "json" };
import { compileHerald } from "../../tools/build/compile.ts";
import { targets } from "../../tools/build/targets.ts";
import { callTool, connectMcp, newClient } from "../harness/clients/mcp.ts";
import { eventually } from "../harness/deadline.ts";
import { createBareMachine } from "../harness/engines/bare-machine.ts";
import { hasRegistry, isRoot } from "../harness/engines/installed.ts";
import { startCollector } from "../harness/engines/otlp.ts";
import { useEngines } from "../harness/engines.ts";
import { messageOf } from "../harness/reading/expectations.ts";
import { errorsLogged, type Herald, type HeraldOptions, runHerald, startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "herald-binary-"));
afterAll(() => rmSync(folder, { recursive: true }));

const binary = join(folder, "herald");
beforeAll(() => compileHerald(binary));

const documents = [
  ...["/docs", "/docs/realtime", "/docs/errors", "/openapi.json", "/asyncapi.json"],
  ...["/llms.txt", "/docs/how-to/receive.md", "/docs/reference/settings.md"],
  ...["/docs/how-to/receive", "/docs/search.js", "/docs/search.json"],
];

/** Starts the binary on a machine of its own, with its data in the home of its user. */
const startIn = (machine: { herald: string[]; home: string }, { env, ...options }: HeraldOptions = {}) =>
  startHerald({
    program: machine.herald,
    dataDir: join(machine.home, "data"),
    env: { HERALD_DATA_DIR: "data", ...env },
    ...options,
  });

/** The targets of a page's `src` and `href`. */
const linksOf = (html: string) => [...html.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, link = ""]) => link);

/** The status, type and text of everything that the server shows in a browser. */
async function readPages(herald: Herald) {
  const { host } = new URL(herald.url); // which pages name
  const read = async (path: string) => {
    const { status, headers, text } = await herald.http<string>("GET", path);
    return { path, status, type: headers.get("content-type"), text: text.replaceAll(host, "herald.test") };
  };
  const pages = await Promise.all(["/console", "/console/demo", ...documents].map(read));
  return [...pages, ...(await Promise.all(pages.flatMap(({ text }) => linksOf(text)).map(read)))];
}

/** The pages without what the command's name makes different: `npx herald` from source, and so the hashes of scripts. */
function comparable(pages: Awaited<ReturnType<typeof readPages>>): typeof pages {
  let text = JSON.stringify(pages).replaceAll("npx herald", "herald");
  const hashes = new Set([...text.matchAll(/-([a-z0-9]{8})\.js/g)].map(([, hash = ""]) => hash));
  for (const [index, hash] of [...hashes].entries()) text = text.replaceAll(hash, `hash${index}`);
  return JSON.parse(text);
}

describe.if(isRoot("run the binary on a machine that has nothing else"))("the binary on a bare machine", () => {
  test("sees neither the repository nor Node", async () => {
    using machine = createBareMachine(binary);
    const script = `["/usr", "/bin", "/etc", "${process.cwd()}"].filter(require("node:fs").existsSync)`;
    const found = Bun.spawnSync([...machine.herald, "--print", script], { env: { ...process.env, BUN_BE_BUN: "1" } });
    expect(found.stdout.toString()).toBe("[]\n");
  });

  test("runs every kind of command", async () => {
    using machine = createBareMachine(binary);
    const run = (...args: string[]) => runHerald(args, {}, { program: machine.herald });
    expect(await run("--version")).toMatchObject({ code: 0, stdout: `${packageJson.version}\n` });
    expect(JSON.parse((await run("version", "--json")).stdout)).toEqual({
      version: packageJson.version,
      bun: packageJson.dependencies.bun,
    });
    expect((await run("--help")).stdout).toContain("herald serve");
    expect(await run("openapi")).toEqual(await runHerald(["openapi"]));
    expect((await run("migrate")).stdout).toContain("version");
    expect((await run("backup", "copy.db")).stdout).toContain("checked it");
    expect((await run("restore", "copy.db", "--data-dir", "restored")).stdout).toContain("Restored");
    expect((await run("upgrade", "--check")).stdout).toContain("nothing to do");
    expect((await run("doctor")).stdout).toContain("database");
    expect(await run("no-such-command")).toMatchObject({ code: 2 });
    expect(await run("nodes", "--key", "k", "--url", "http://127.0.0.1:1")).toMatchObject({ code: 3 });
  });

  test("shows the same console, demo page and documents as a server from source", async () => {
    using machine = createBareMachine(binary);
    await using herald = await startIn(machine, { env: { HERALD_DEMO: "1" } });
    await using source = await startHerald({ env: { HERALD_DEMO: "1" } });
    for (const path of ["/healthz", "/readyz"]) expect((await herald.http("GET", path)).status).toBe(200);
    const pages = await readPages(herald);
    expect(pages.length).toBeGreaterThan(documents.length + 6);
    expect(pages.filter(({ status }) => status !== 200)).toEqual([]);
    expect(comparable(pages)).toEqual(comparable(await readPages(source)));
    await herald.stop();
    expect(errorsLogged(herald)).toEqual([]);
  });

  test("delivers over WebSocket and SSE what was sent, and keeps it over a crash and a restart", async () => {
    using machine = createBareMachine(binary);
    await using first = await startIn(machine);
    const org = await createOrganization(first);
    const cid = await org.conversation(["alice", "bob"]);
    using socket = await org.socket("bob");
    using stream = await org.sse("bob");
    await org.sent("alice", { cid, body: "hello" });
    expect(messageOf(await socket.next()).body).toBe("hello");
    expect(messageOf(await stream.next()).body).toBe("hello");
    await first.kill();

    await using second = await startIn(machine);
    const [message] = await (await createOrganization(second, org.id)).history(cid);
    expect(message).toMatchObject({ body: "hello", from: "alice" });
    await second.stop();
    expect([...errorsLogged(first), ...errorsLogged(second)]).toEqual([]);
  });

  test("sends by its own command to its own server, with the key that the first start created", async () => {
    using machine = createBareMachine(binary);
    await using herald = await startIn(machine, { key: null, env: { HERALD_DEMO: "1" } });
    const send = [
      "send",
      "message",
      "--org",
      "demo",
      "--from",
      "alice",
      "--to",
      "welcome",
      "--url",
      herald.url,
      "Hello",
    ];
    expect(await runHerald(send, {}, { program: machine.herald })).toMatchObject({ code: 0, stderr: "" });
    await herald.stop();
  });

  test("speaks MCP at its server and on standard input and output", async () => {
    using machine = createBareMachine(binary);
    await using herald = await startIn(machine, { env: { HERALD_DEMO: "1" } });
    await using mcp = await connectMcp(herald);
    expect(await callTool(mcp.client, "getUser", { org: "demo", uid: "alice" })).toMatchObject({ isError: false });
    const [command = "", ...args] = [...machine.herald, "mcp", "--url", herald.url, "--key", herald.key];
    const client = newClient();
    await client.connect(new StdioClientTransport({ command, args }));
    expect((await client.listTools()).tools).toEqual((await mcp.client.listTools()).tools);
    expect(await callTool(client, "getUser", { org: "demo", uid: "alice" })).toMatchObject({ isError: false });
    await client.close();
    await herald.stop();
    expect(errorsLogged(herald)).toEqual([]);
  });

  test("does not execute what a bunfig.toml or an .env in its folder says", async () => {
    using machine = createBareMachine(binary);
    writeFileSync(join(machine.home, "bunfig.toml"), 'preload = ["./evil.ts"]\n');
    writeFileSync(join(machine.home, "evil.ts"), "process.exit(66);\n");
    writeFileSync(join(machine.home, ".env"), "HERALD_LOG_LEVEL=nonsense\n");
    await using herald = await startIn(machine, { env: {} });
    await herald.stop();
  });

  test("names the source of an unexpected error", async () => {
    using machine = createBareMachine(binary);
    mkdirSync(join(machine.home, "herald.db"));
    const { code, stderr } = await runHerald(["serve"], { HERALD_DATA_DIR: "." }, { program: machine.herald });
    expect(code).toBe(1);
    expect(stderr).toMatch(/src\/store\/sqlite\/writer-thread\.ts:\d+/);
  });

  test("exports traces", async () => {
    await using collector = startCollector();
    using machine = createBareMachine(binary);
    await using herald = await startIn(machine, { env: { HERALD_OTLP_URL: collector.url, HERALD_TRACE_RATIO: "1" } });
    await createOrganization(herald);
    await eventually(() => collector.spans[0], "a span");
    await herald.stop();
  });
});

const mayIsolate = isRoot("run the binary on a machine that has nothing else");

/** Runs two workers, each of them the binary, and expects one to deliver what another was sent. */
async function expectWorkersDeliver(env: Record<string, string>): Promise<void> {
  using machine = createBareMachine(binary);
  await using herald = await startIn(machine, { args: ["--workers", "2"], env });
  const org = await createOrganization(herald);
  const cid = await org.conversation(["alice", "bob"]);
  // The kernel chooses the worker of each connection.
  const sockets = await Promise.all(Array.from({ length: 12 }, () => org.socket("bob")));
  await org.sent("alice", { cid, body: "to all" });
  for (const socket of sockets) expect(messageOf(await socket.next()).body).toBe("to all");
  for (const socket of sockets) socket.terminate();
  await herald.stop();
  expect(errorsLogged(herald)).toEqual([]);
}

if (mayIsolate) test("runs workers on the embedded database", async () => await expectWorkersDeliver({}));

const engines = await useEngines();
if (engines !== undefined && mayIsolate)
  test("runs workers on PostgreSQL and NATS", async () => {
    const { postgres, nats } = engines;
    await expectWorkersDeliver({
      HERALD_DATABASE_URL: await postgres.createDatabase(),
      HERALD_BUS_URL: nats.url,
    });
  });

/** How an executable file of each kind begins; in an ELF file, the machine follows at byte 18. */
const magic: Record<string, RegExp> = {
  "linux-x64": /^7f454c460201.{24}3e00/,
  "linux-arm64": /^7f454c460201.{24}b700/,
  "macos-x64": /^cffaedfe07000001/,
  "macos-arm64": /^cffaedfe0c000001/,
  "windows-x64": /^4d5a/,
};

describe.if(hasRegistry())("the binary for another machine", () => {
  test.each(targets.map((target) => [target.name, target] as const))("is made for %s", async (name, target) => {
    const file = join(folder, name);
    await compileHerald(file, target);
    const header = Buffer.from(await Bun.file(file).slice(0, 32).arrayBuffer());
    rmSync(file);
    expect(header.toString("hex")).toMatch(magic[name] ?? "a known kind");
  });
});
