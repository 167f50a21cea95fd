import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { describeSettings } from "../config.ts";
import { flatten, readCommandTree } from "./completion/command-tree.ts";
import { createProgram } from "./herald.ts";
import { createOutput } from "./output/output.ts";
import { runHerald } from "./testing/run-herald.ts";

const program = () => createProgram(createOutput());
const tree = flatten(readCommandTree(program()));
const words = (text: string) => text.split(" ").filter((word) => word !== "");

const helps = new Map<string, ReturnType<typeof runHerald>>();

/** What `herald <path> --help` prints; it is run once. */
function helpOf(path: string): ReturnType<typeof runHerald> {
  const help = helps.get(path) ?? runHerald([...words(path), "--help"]);
  helps.set(path, help);
  return help;
}

test.each(tree)("herald $path --help explains itself", async ({ path, commands }) => {
  const { code, stdout, stderr } = await helpOf(path);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toStartWith(`Usage: herald ${path}`.trimEnd());
  expect(stdout.includes("Example")).toBe(path === "" || commands.length === 0);
});

const uploaded = "photo.png:48213:image/png:01a1fb4a-6a00-7000-8000-000000000002"; // what `herald files upload` prints

/**
 * The commands of the examples in a help text, split as a shell would, without redirections, pipes and remarks. What is
 * substituted is a command, too.
 */
function readExamples(help: string): string[][] {
  const whole = Array.from(help.matchAll(/^ {2}(?:HERALD_\S+ |.*\| )*herald (.*)$/gm), ([, call = ""]) => call);
  const substitution = /\$\(herald (files upload [^)]*)\)/g;
  const calls = whole.flatMap((call) => [
    call.replace(substitution, uploaded),
    ...Array.from(call.matchAll(substitution), ([, inner = ""]) => inner),
  ]);
  const commands = calls.map((call) => call.replace(/ +[|<>] .*$| {4,}.*$/g, ""));
  const word = /'([^']*)'|"([^"]*)"|(\S+)/g;
  return commands.map((command) =>
    Array.from(command.matchAll(word), ([, single, double, plain]) => single ?? double ?? plain ?? ""),
  );
}

test.each(tree)("the examples of herald $path are commands that it understands", async ({ path }) => {
  const { stdout } = await helpOf(path);
  const examples = readExamples(stdout);
  if (stdout.includes("Example")) expect(examples).not.toEqual([]);
  for (const example of examples) {
    const understood = program().configureOutput({ writeErr: () => undefined });
    const stub = (command: Command) => {
      command.action(() => undefined);
      command.commands.forEach(stub);
    };
    for (const command of understood.commands) stub(command);
    await understood.parseAsync(example, { from: "user" });
  }
});

test("herald help is another way to ask for help", async () => {
  expect(await runHerald(["help"])).toEqual(await runHerald(["--help"]));
  expect(await runHerald(["help", "users", "list"])).toEqual(await runHerald(["users", "list", "--help"]));
});

test.each([
  ["nonsense", "unknown command 'nonsense'"],
  ["help nonsense", "unknown command 'nonsense'"],
  ["nonsense --help", "unknown command 'nonsense'"],
  ["--help nonsense", "unknown command 'nonsense'"],
  ["usr list --org demo", "(Did you mean users?)"],
  ["users lst --org demo --help", "(Did you mean list?)"],
  ["keys crate --name x --scope observe", "(Did you mean create?)"],
  ["users list --org demo --jsn", "(Did you mean --json?)"],
])("herald %s ends with 2 and names what is unknown", async (command, reason) => {
  const { code, stdout, stderr } = await runHerald(words(command));
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(reason);
});

test("herald --help tells the exit codes, herald serve --help every setting", async () => {
  const [main, serve] = await Promise.all([runHerald(["--help"]), runHerald(["serve", "--help"])]);
  for (const line of ["0  done", "1  failed", "2  usage", "3  the server could not be reached"])
    expect(main.stdout).toContain(line);
  const settings = describeSettings();
  expect(settings.length).toBeGreaterThanOrEqual(56);
  const told = serve.stdout.replaceAll(/\s+/g, " ");
  expect(told).not.toContain("(default: )");
  for (const { name, description, defaultValue } of settings) {
    expect(serve.stdout).toContain(`  ${name} `);
    const ending = defaultValue === "" ? "" : ` (default: ${defaultValue})`;
    expect(told).toContain(`${name} ${description}${ending}`);
  }
});

test("herald version prints the versions", async () => {
  expect((await runHerald(["version"])).stdout).toBe(`herald ${packageJson.version} (bun ${Bun.version})\n`);
  expect(JSON.parse((await runHerald(["version", "--json"])).stdout)).toEqual({
    version: packageJson.version,
    bun: Bun.version,
  });
});

test("a slow reader of a long result gets all of it", async () => {
  const script = new URL("herald.ts", import.meta.url).pathname;
  const pipe = Bun.spawn(["sh", "-c", `"$0" "$1" openapi | (sleep 0.5; cat)`, process.execPath, script], {
    stdout: "pipe",
  });
  const document = await new Response(pipe.stdout).text();
  expect(document.length).toBeGreaterThan(65_536); // what a pipe holds
  expect(JSON.parse(document).openapi).toStartWith("3.1");
});

test.each([
  ["", "Usage: herald"],
  ["nonsense", "herald: unknown command 'nonsense'"],
  ["send", "Usage: herald send"],
  ["token --org demo", "herald: required option '--user <id>' not specified"],
  ["token --org demo --user bob --ttl 0", "Write a whole number, at least 1."],
  ["token --org demo --user bob --url ftp://host", "--url ftp://host is not a server address"],
  ["token --org demo --user bob", "herald: no admin API key found"],
  ["token --org .. --user bob --key k", 'The identifier ".." cannot be part of a URL.'],
  ["listen --key k", "Give --org and --user, or --token."],
  ["send message --org o --from u --to c --key k", "nothing to send"],
  ["send message --org o --from u --to c --key k --x [] hi", "It must be a JSON object"],
  ["keys", "Usage: herald keys"],
  ["keys create --name n --key k", "herald: required option '--scope <scope,scope>' not specified"],
  ["keys create --name n --scope observe --expires soon --key k", "or a duration, for example 90d, 12h or 30m"],
  ["keys rotate --key k", "herald: missing required argument 'id'"],
  ["keys rotate id --overlap -1 --key k", "Write a whole number."],
  ["serve --config /nowhere/herald.env", "--config /nowhere/herald.env cannot be read"],
])("herald %s ends with 2 and says why on stderr", async (command, reason) => {
  const { code, stdout, stderr } = await runHerald(words(command));
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(reason);
});

test("a setting that is not known or not valid is one line and 2", async () => {
  const unknown = await runHerald(["serve"], { env: { HERALD_PROT: "1" } });
  expect(unknown).toMatchObject({ code: 2, stdout: "" });
  expect(unknown.stderr).toMatch(/^herald: HERALD_PROT is not a Herald setting.*\n$/);
  const invalid = await runHerald(["listen", "--org", "o", "--user", "u"], { env: { HERALD_PORT: "x" } });
  expect(invalid.code).toBe(2);
  expect(invalid.stderr).toMatch(/^herald: HERALD_PORT must be a port.*\n$/);
});

test.each([
  "token --org o --user u",
  "nodes",
  "listen --org o --user u",
  "send message --org o --from u --to c hi",
  "send system --org o --from u --to u",
  "keys create --name n --scope observe",
  "keys list",
  "keys rotate id",
  "keys revoke id",
])("herald %s ends with 3 when there is no server", async (command) => {
  using listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const { port } = listener;
  listener.stop(true);
  const { code, stdout, stderr } = await runHerald([...words(command), "--key", "k"], {
    env: { HERALD_PORT: String(port) },
  });
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  expect(stderr).toContain(`http://127.0.0.1:${port}`);
  expect(stderr).toContain("herald serve");
  expect(stderr.includes("Send it again with --id ")).toBe(command.startsWith("send"));
});

test("the key comes from --key, then the environment, then the data folder", async () => {
  const keys: (string | null)[] = [];
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      keys.push(request.headers.get("Admin-Api-Key"));
      return Response.json({ token: "t", expires_at: "2026-11-20T13:06:00.000Z" }, { status: 201 });
    },
  });
  const folder = mkdtempSync(join(tmpdir(), "herald-key-"));
  try {
    writeFileSync(join(folder, "admin-api-key"), "from-file\n");
    writeFileSync(join(folder, "herald.env"), `HERALD_DATA_DIR=${folder}\nHERALD_PORT=${server.port}\n`);
    const variable = "from-environment-0123456789-0123456789";
    const command = ["token", "--org", "o", "--user", "u", "--config", join(folder, "herald.env")];
    await runHerald([...command, "--key", "from-option"], { env: { HERALD_ADMIN_API_KEY: variable } });
    await runHerald(command, { env: { HERALD_ADMIN_API_KEY: variable } });
    const last = await runHerald(command);
    expect(keys).toEqual(["from-option", variable, "from-file"]);
    expect(last).toEqual({ code: 0, stdout: "t\n", stderr: "valid until 2026-11-20T13:06:00.000Z\n" });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
