import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrations } from "../../store/migrations.ts";
import { collect, runHerald, startHeraldCommand, startServer } from "../testing/run-herald.ts";

const launcher = new URL("../../../bin/herald.js", import.meta.url).pathname;

async function linesUntil(
  lines: AsyncGenerator<string, undefined>,
  isLast: (line: string) => boolean,
): Promise<string[]> {
  const taken: string[] = [];
  for (let line = await lines.next(); !line.done; line = await lines.next()) {
    taken.push(line.value);
    if (isLast(line.value)) break;
  }
  return taken;
}

test("the welcome's two steps work when they are pasted, in that order", async () => {
  await using server = await startServer();
  const page = await linesUntil(server.process.lines, (line) => line.includes("/docs"));
  const listen =
    page.find((line) => line.includes("npx herald listen"))?.replace("npx herald", `node ${launcher}`) ?? "";
  const curl = page.slice(
    page.findIndex((line) => line.includes("curl ")),
    page.findIndex((line) => line.includes("-d '")) + 1,
  );
  const key = readFileSync(join(server.cwd, "data/admin-api-key"), "utf8").trim();
  expect(page.join("\n")).not.toContain(key); // a pipe is no terminal
  expect(page.join("\n")).toContain(`$(cat ${join(realpathSync(server.cwd), "data/admin-api-key")})`);
  expect(statSync(join(server.cwd, "data/admin-api-key")).mode & 0o777).toBe(0o600);

  const listener = Bun.spawn(["sh", "-c", `${listen} --count 1`], { cwd: server.cwd, stdout: "pipe", stderr: "pipe" });
  expect(new TextDecoder().decode((await listener.stderr.getReader().read()).value)).toStartWith(
    `connected to ${server.url} as bob`,
  );
  const sent = Bun.spawn(["sh", "-c", `${curl.join("\n")} -s`], { cwd: tmpdir(), stdout: "pipe" });
  expect(await new Response(sent.stdout).json()).toMatchObject({ ask: { server_mid: expect.any(String) } });
  expect(await new Response(listener.stdout).text()).toMatch(
    /^\d\d:\d\d:\d\d {2}welcome {2}alice {2}Hello from Herald\n$/,
  );
  expect(await listener.exited).toBe(0);
});

test.each(["SIGTERM", "SIGINT"] as const)("%s stops it gracefully, with 0", async (signal) => {
  await using server = await startServer();
  server.process.kill(signal);
  expect(await server.process.exited).toBe(0);
});

test.each(["another program", "another Herald"])(
  "a port that %s has is told by its setting, with 1",
  async (holder) => {
    await using herald = await startServer();
    using other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
    const port = holder === "another Herald" ? new URL(herald.url).port : String(other.port);
    await using second = startHeraldCommand(["serve"], {
      cwd: herald.cwd,
      env: { HERALD_PORT: port, HERALD_DATA_DIR: "other" },
    });
    const lines = await linesUntil(second.lines, (line) => line.includes('"listening"'));
    expect(lines.join("\n")).not.toContain('"listening"');
    expect(await second.exited).toBe(1);
    const stderr = await collect(second.errorLines);
    expect(stderr).toStartWith(`herald: port ${port} on 127.0.0.1 is already in use.`);
    expect(stderr).toContain("HERALD_PORT");
  },
);

test.each([{ HERALD_DATABASE_URL: "postgres://localhost/herald" }, { HERALD_BUS_URL: "nats://localhost" }])(
  "workers with only one of PostgreSQL and NATS are refused in one line, with 2: %j",
  async (env) => {
    const { code, stdout, stderr } = await runHerald(["serve", "--workers", "2"], { env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe(
      "herald: --workers 2 runs 2 nodes, which share PostgreSQL and NATS, or the embedded database: set both HERALD_DATABASE_URL and HERALD_BUS_URL, or neither\n",
    );
  },
);

test("a later start that nobody watches prints log lines only", async () => {
  await using first = await startServer({});
  first.process.kill("SIGTERM");
  expect(await collect(first.process.lines)).toContain(join(realpathSync(first.cwd), "data/admin-api-key"));
  await first.process.exited;
  await using again = startHeraldCommand(["serve"], { cwd: first.cwd, env: { HERALD_PORT: "0" } });
  const lines = await linesUntil(again.lines, (line) => line.includes('"listening"'));
  again.kill("SIGTERM");
  const rest = (await collect(again.lines)).split("\n").filter((line) => line !== "");
  for (const line of [...lines, ...rest]) expect(line).toStartWith("{");
  expect(await again.exited).toBe(0);
});

test("migrate brings an empty folder to the newest version, and then has nothing to do", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "herald-migrate-"));
  try {
    const first = await runHerald(["migrate", "--json"], { cwd });
    const { from, to } = JSON.parse(first.stdout);
    expect({ code: first.code, from }).toEqual({ code: 0, from: 0 });
    expect(to).toBe(migrations.length);
    expect((await runHerald(["migrate"], { cwd })).stdout).toBe(`The database is already at version ${to}.\n`);
  } finally {
    rmSync(cwd, { recursive: true });
  }
});

test("the key that the first start makes is shown once on a terminal, and a later start does not show it", async () => {
  const script = Bun.which("script");
  if (script === null) return console.log("skipped, since `script` (bsdutils) is not installed: a look at a terminal");
  const cwd = mkdtempSync(join(tmpdir(), "herald-terminal-"));
  const shown: string[] = [];
  for (let start = 0; start < 2; start++) {
    const command = `exec ${process.execPath} ${new URL("../herald.ts", import.meta.url).pathname} serve`;
    const env = { ...process.env, HERALD_PORT: "0", HERALD_DATA_DIR: "data", NO_COLOR: "1" };
    const child = Bun.spawn([script, "-qfec", command, "/dev/null"], { cwd, env, stdin: "ignore", stdout: "pipe" });
    let text = "";
    for await (const chunk of child.stdout) {
      text += new TextDecoder().decode(chunk);
      if (text.includes("Documentation")) child.kill("SIGTERM");
    }
    shown.push(text);
  }
  const key = readFileSync(join(cwd, "data/admin-api-key"), "utf8").trim();
  rmSync(cwd, { recursive: true });
  expect(shown.map((text) => text.split(key).length - 1)).toEqual([1, 0]);
});
