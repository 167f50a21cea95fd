import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };

setDefaultTimeout(60_000);

const launcher = new URL("../../bin/herald.js", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "herald-launcher-"));
afterAll(() => rmSync(folder, { recursive: true }));

const nodePath = Bun.which("node") ?? "node";

function launch(file: string, args: string[], path?: string) {
  const env = { ...process.env, ...(path === undefined ? {} : { PATH: path }) };
  const child = Bun.spawn([nodePath, file, ...args], { env, stdout: "pipe", stderr: "pipe", stdin: "ignore" });
  const finished = Promise.all([child.exited, new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { child, finished };
}

/** The launcher in a folder of its own, without any dependency beside it, and what `bun` is there. */
function installAlone(bun?: string): { file: string; path: string } {
  const root = mkdtempSync(join(folder, "alone-"));
  mkdirSync(join(root, "bin"));
  writeFileSync(join(root, "package.json"), '{"type":"module"}');
  copyFileSync(launcher, join(root, "bin/herald.js"));
  if (bun !== undefined) {
    writeFileSync(join(root, "bun"), `#!/bin/sh\n${bun}\n`);
    chmodSync(join(root, "bun"), 0o755);
  }
  return { file: join(root, "bin/herald.js"), path: root };
}

test("it runs on the bun of the dependency, also when PATH has none, and hands on arguments and exit code", async () => {
  const [code, stdout] = await launch(launcher, ["version", "--json"], dirname(nodePath)).finished;
  expect({ code, ...JSON.parse(stdout) }).toEqual({
    code: 0,
    version: packageJson.version,
    bun: packageJson.dependencies.bun,
  });
  expect((await launch(launcher, ["nonsense"]).finished)[0]).toBe(2);
});

test("without the dependency it takes bun from the PATH", async () => {
  const { file, path } = installAlone('printf "%s\\n" "$@"; exit 7');
  const [code, stdout] = await launch(file, ["send", "two words", ""], path).finished;
  expect(code).toBe(7);
  expect(stdout).toBe(`${join(path, "src/cli/herald.ts")}\nsend\ntwo words\n\n`);
});

test("where install scripts do not run, it takes Bun from the package for this system", async () => {
  const { file, path } = installAlone();
  const modules = join(path, "node_modules");
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    writeFileSync(join(modules, name), text, { mode: 0o755 });
  };
  const optionalDependencies = { "@oven/bun-elsewhere": "1.0.0", "@oven/bun-here": "1.0.0" };
  write("bun/package.json", JSON.stringify({ name: "bun", optionalDependencies }));
  write("bun/bin/bun.exe", "#!/bin/sh\necho 'the postinstall script was not run'; exit 1\n");
  write("@oven/bun-here/package.json", '{"name":"@oven/bun-here"}');
  write("@oven/bun-here/bin/bun", "#!/bin/sh\necho here\n");
  expect(await launch(file, [], path).finished).toEqual([0, "here\n", ""]);
});

test("without any bun it says what to do", async () => {
  const { file, path } = installAlone();
  const [code, stdout, stderr] = await launch(file, ["version"], path).finished;
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("Run `npm ci`");
});

test.each(["SIGTERM", "SIGINT"] as const)("%s is handed on, and the exit code is the command's", async (signal) => {
  // Not in the shell's language: a shell cannot trap what was ignored when it began, as SIGINT is in the background.
  const { file, path } = installAlone(
    `exec ${nodePath} -e 'process.on("${signal}", () => { console.log("stopping"); process.exit(5); }); console.log("ready"); setInterval(() => {}, 60_000)'`,
  );
  const child = Bun.spawn([nodePath, file, "serve"], { env: { PATH: path }, stdout: "pipe", stderr: "inherit" });
  const reader = child.stdout.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe("ready\n");
  child.kill(signal);
  expect(new TextDecoder().decode((await reader.read()).value)).toBe("stopping\n");
  expect(await child.exited).toBe(5);
});

test("a command that dies of a signal ends with 128 and its number", async () => {
  const { file, path } = installAlone("kill -KILL $$");
  expect((await launch(file, [], path).finished)[0]).toBe(137);
});
