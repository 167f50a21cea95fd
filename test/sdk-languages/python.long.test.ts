import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { $ } from "bun";
import { generatePythonModels, generatorPins, pythonModelsFile } from "../../tools/sdks/python-models.ts";
import { readPage } from "../docs/markdown.ts";
import { postUnfitOrders, unfitOrders } from "../examples/unfit-orders.ts";
import { eventually } from "../harness/deadline.ts";
import { freePort } from "../harness/engines/free-port.ts";
import { findPython, keepEnvironment } from "../harness/engines/python.ts";
import { startHerald, TEST_TOKEN_SECRET } from "../harness/servers/herald.ts";
import { callsOf, callVariables, prepareForCalls } from "./calls.ts";

const root = resolve(import.meta.dir, "../..");
const pins = join(import.meta.dir, "python/requirements.txt");
const { version }: { version: string } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const wheel = `herald_sdk-${version}-py3-none-any.whl`;
const found = await findPython();
const folder = mkdtempSync(join(tmpdir(), "herald-python-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Builds the SDK, and installs the wheel in a new environment. Returns its Python. */
async function install(python: string): Promise<string> {
  const environment = join(folder, "environment");
  const tools = await keepEnvironment(python, pins);
  await $`cp --archive --link ${resolve(tools, "../..")} ${environment}`; // its files are only added to
  const own = join(environment, "bin/python");
  const built = join(folder, "dist");
  // The wheel is built from the source distribution, which therefore is complete.
  await $`${own} -m build --no-isolation --outdir ${built} ${join(root, "sdk-python")}`.quiet();
  expect(readdirSync(built).sort()).toEqual([wheel, `herald_sdk-${version}.tar.gz`]);
  await $`${own} -m pip install --quiet --no-deps --no-index ${join(built, wheel)}`.quiet();
  await $`${own} -m pip check`.quiet();
  return own;
}

const python = found && (await install(found));

describe.skipIf(python === undefined)("the Python SDK", () => {
  if (found === undefined || python === undefined) return;
  const tests = join(folder, "tests");
  cpSync(join(root, "sdk-python/tests"), tests, { recursive: true });
  cpSync(join(root, "sdk-python/pyproject.toml"), join(folder, "pyproject.toml"));

  const programOf = (path: string, name: string): string => {
    const programs = readPage(path).blocks.filter(({ language }) => language === "python");
    const program = join(folder, name);
    writeFileSync(program, programs.map(({ text }) => text).join("\n\n"));
    return program;
  };
  const page = programOf("docs/how-to/send-from-python.md", "page.py");
  const calls = join(folder, "calls.py");
  const functions = callsOf("python").map(
    ({ name, text }) => `def ${name}() -> None:\n${text.trimEnd().replaceAll(/^(?=.)/gm, "    ")}\n\n${name}()\n`,
  );
  const client = `import json
import os
from herald import Herald

herald = Herald(os.environ["HERALD_URL"], os.environ["HERALD_ADMIN_API_KEY"])
headers: dict[str, str] = json.loads(os.environ["WEBHOOK_HEADERS"])
body = os.environ["WEBHOOK_BODY"].encode()
secret = os.environ["WEBHOOK_SECRET"]
`;
  writeFileSync(calls, [client, ...functions].join("\n"));

  test("has the models that its generator makes", async () => {
    const generator = await keepEnvironment(found, generatorPins);
    expect(await generatePythonModels(generator)).toBe(readFileSync(pythonModelsFile, "utf8"));
  });

  test("is typed, as a program elsewhere sees it", async () => {
    for (const what of [
      ["-p", "herald"],
      [tests, page, calls, join(root, "examples/fastapi")],
    ]) {
      const { stdout } = await $`${python} -m mypy ${what}`.cwd(folder).nothrow().quiet();
      expect(stdout.toString()).toStartWith("Success");
    }
  });

  test("passes its tests with a real server, installed from the wheel", async () => {
    await using server = await startHerald({ env: { HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET } });
    const variables = {
      ...process.env,
      HERALD_TEST_URL: server.url,
      HERALD_TEST_KEY: server.key,
      HERALD_TEST_TOKEN_SECRET: TEST_TOKEN_SECRET,
    };
    const run = await $`${python} -W error -m pytest --no-header ${tests}`.cwd(folder).env(variables).nothrow().quiet();
    expect([run.exitCode, run.stdout.toString()]).toEqual([0, expect.stringMatching(/^\.+ .*\d+ passed in/s)]);
  });

  test("does what its page shows", async () => {
    await using server = await startHerald({ env: { HERALD_DEMO: "1", HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET } });
    const variables = {
      HERALD_URL: server.url,
      HERALD_ADMIN_API_KEY: server.key,
      HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET,
    };
    const run = await $`${python} ${page}`.cwd(folder).env(variables).nothrow().quiet();
    const lines = [
      /stored as [0-9a-f-]{36}/,
      /online: 0/,
      /True True/,
      /there is no such conversation/,
      /alice News/,
      /\['alice'\] True/,
      /None/,
      /1 cake/,
      /2/,
      /Live/,
      /answer 401: .+/,
    ].map(({ source }) => source);
    expect([run.stderr.toString(), run.stdout.toString()]).toEqual([
      "",
      expect.stringMatching(new RegExp(`^${lines.join("\n")}\n$`)),
    ]);
  });

  test("does what its README shows", async () => {
    await using server = await startHerald({ env: { HERALD_DEMO: "1" } });
    const variables = { HERALD_URL: server.url, HERALD_ADMIN_API_KEY: server.key };
    const program = programOf("sdk-python/README.md", "readme.py");
    const run = await $`${python} ${program}`.cwd(folder).env(variables).nothrow().quiet();
    expect([run.stderr.toString(), run.stdout.toString()]).toEqual(["", expect.stringMatching(/^[0-9a-f-]{36}\n$/)]);
  });

  test("makes the calls that pages show in several languages", async () => {
    await using server = await startHerald({ env: { HERALD_DEMO: "1" } });
    await prepareForCalls(server);
    const variables = callVariables(server);
    const run = await $`${python} ${calls}`.cwd(folder).env(variables).nothrow().quiet();
    expect([run.stderr.toString(), run.exitCode]).toEqual(["", 0]);
  });

  test.each([
    ["FastAPI", "fastapi", (port: number) => ["-m", "uvicorn", "main:app", "--port", String(port)], 422],
    ["Django", "django", (port: number) => ["manage.py", "runserver", "--noreload", String(port)], 400],
  ])(
    "is what the example of %s uses: an order that is placed twice is told once",
    async (_name, example, start, refused) => {
      const place = join(folder, example);
      cpSync(join(root, "examples", example), place, { recursive: true });
      if (example === "fastapi") {
        const { stdout } = await $`${python} -m mypy --strict main.py`.cwd(place).nothrow().quiet();
        expect(stdout.toString()).toStartWith("Success");
      }
      await using server = await startHerald({ env: { HERALD_DEMO: "1" } });
      const port = freePort();
      const env = { HERALD_URL: server.url, HERALD_ADMIN_API_KEY: server.key, PYTHONUNBUFFERED: "1" };
      const child = Bun.spawn([python, ...start(port)], { cwd: place, env, stdout: "ignore", stderr: "ignore" });
      try {
        const order = (body: object) =>
          fetch(`http://127.0.0.1:${port}/orders`, {
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body: JSON.stringify(body),
          });
        const placed = { user: "bob", order: "456" };
        const first = await eventually(() => order(placed).catch(() => undefined), "the shop to listen");
        const answers = [first, await order(placed), await order({ user: "bob" })];
        expect(answers.map(({ status }) => status)).toEqual([201, 201, refused]);
        expect(await postUnfitOrders(`http://127.0.0.1:${port}/orders`)).toEqual(unfitOrders.map(() => refused));
        const [sent, again] = await Promise.all(answers.slice(0, 2).map((answer) => answer.json()));
        expect(sent).toEqual({ message: expect.any(String), replayed: false });
        expect(again).toEqual({ ...sent, replayed: true });
        const { body } = await server.admin<{ items: { body: string }[] }>(
          "GET",
          "/admin/organizations/demo/conversations/welcome/messages",
        );
        expect(body.items.filter(({ body }) => body === "Order 456 is placed.")).toHaveLength(1);
      } finally {
        child.kill();
        await child.exited;
      }
    },
  );

  test("sends each message of a batch once while the server is killed and comes back", async () => {
    const options = { dataDir: mkdtempSync(join(folder, "data-")), env: { HERALD_PORT: String(freePort()) } };
    let server = await startHerald(options);
    const env = { HERALD_TEST_URL: server.url, HERALD_TEST_KEY: server.key, PYTHONUNBUFFERED: "1" };
    const program = join(import.meta.dir, "python/steadily.py");
    const child = Bun.spawn([python, program], { cwd: folder, env, stdout: "pipe", stderr: "pipe" });
    const decoder = new TextDecoder();
    let said = "";
    let kills = 0;
    for await (const piece of child.stdout) {
      said += decoder.decode(piece, { stream: true });
      if (kills >= 2 || !said.includes(`answered ${700 * (kills + 1)}\n`)) continue;
      kills++;
      await server.kill();
      server = await startHerald(options);
    }
    await server.stop();
    expect([await new Response(child.stderr).text(), said.split("\n").at(-2), kills]).toEqual(["", "3000 of 3000", 2]);
  });
});
