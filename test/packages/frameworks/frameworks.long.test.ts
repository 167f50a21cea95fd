import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { readPage } from "../../docs/markdown.ts";
import { hasRegistry } from "../../harness/engines/installed.ts";
import { findPython, keepEnvironment } from "../../harness/engines/python.ts";
import { type Herald, startHerald } from "../../harness/servers/herald.ts";
import { createProject, outsideEnvironment, type Project, packSdk } from "../project.ts";
import { startModelServer } from "./model-server.ts";

setDefaultTimeout(180_000);

const root = resolve(import.meta.dir, "../../..");
const compiler = join(root, "node_modules/@typescript/native/bin/tsc");
const packages = {
  "@ai-sdk/openai": "3.0.141",
  "@anthropic-ai/sdk": "1.14.0",
  "@langchain/core": "1.4.0",
  "@langchain/langgraph": "1.7.3",
  "@langchain/openai": "1.5.8",
  "@types/node": "24.10.1",
  ai: "6.0.326",
  openai: "6.49.0",
};
const compilerOptions = {
  strict: true,
  noEmit: true,
  module: "nodenext",
  target: "es2023",
  types: ["node"],
  skipLibCheck: true,
};
const words = ["We ", "open ", "at ", "ten", ", 👋 ", "and ", "close ", "at ", "six."];

/** The programs of the page in a language: each begins with the first of its blocks. */
function programsIn(language: string): [string, string][] {
  const { blocks } = readPage("docs/how-to/stream-from-a-framework.md");
  const [first, ...others] = blocks.filter((block) => block.language === language && block.how === "framework");
  return others.map(({ line, text }) => [`line-${line}`, `${first?.text}\n${text}`]);
}

/** What the conversation of the demo has, newest first. */
async function heard(herald: Herald): Promise<object[]> {
  const history = "/admin/organizations/demo/conversations/welcome/messages";
  return (await herald.admin<{ items: object[] }>("GET", history)).body.items;
}

/** Runs a program, in a process of its own, which gets its answers from this one. */
async function run(
  command: string[],
  cwd: string,
  env: Record<string, string>,
): Promise<{ code: number; printed: string }> {
  const child = Bun.spawn(command, { cwd, env: outsideEnvironment(env), stdout: "pipe", stderr: "pipe" });
  const printed = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, printed: printed.join("") };
}

const envOf = ({ url, key }: Herald) => ({ HERALD_URL: url, HERALD_ADMIN_API_KEY: key });
const whole = { from: "alice", body: words.join("") };

describe.skipIf(!hasRegistry())("what frameworks stream, in TypeScript", () => {
  const programs = programsIn("ts");
  let project: Project;
  let herald: Herald;
  beforeAll(async () => {
    using tarball = packSdk();
    const files = Object.fromEntries(programs.map(([name, text]) => [`${name}.ts`, text]));
    const tsconfig = JSON.stringify({ compilerOptions, files: Object.keys(files) });
    project = createProject({ ...files, "tsconfig.json": tsconfig }, { ...packages, "@herald/sdk": tarball.file });
    herald = await startHerald({ env: { HERALD_DEMO: "1" } });
  });
  afterAll(async () => {
    await herald.stop();
    project[Symbol.dispose]();
  });

  test("has the types that the programs of the page expect", () => {
    expect(project.run([compiler, "-p", "."])).toBe("");
  });

  test.each(programs)("becomes one message: %s", async (name) => {
    using model = startModelServer(words);
    const before = (await heard(herald)).length;
    const env = { ...envOf(herald), ...model.env };
    expect(await run([process.execPath, `${name}.ts`], project.folder, env)).toEqual({ code: 0, printed: "" });
    const messages = await heard(herald);
    expect(messages).toHaveLength(before + 1);
    expect(messages[0]).toMatchObject(whole);
    expect(messages[0]).not.toHaveProperty("open");
  });

  test("is not taken for a whole answer when the model fails: the program of the AI SDK fails, too", async () => {
    using model = startModelServer(words.slice(0, 2), { breaksOff: true });
    const [name = ""] = programs.find(([, text]) => text.includes("streamText")) ?? [];
    const { code } = await run([process.execPath, `${name}.ts`], project.folder, { ...envOf(herald), ...model.env });
    expect(code).not.toBe(0);
    expect((await heard(herald))[0]).toMatchObject({ body: "We open " });
  });
});

const python = await findPython();

describe.skipIf(python === undefined)("what frameworks stream, in Python", () => {
  const folder = mkdtempSync(join(tmpdir(), "herald-frameworks-"));
  let herald: Herald;
  let interpreter: string;
  beforeAll(async () => {
    interpreter = await keepEnvironment(python ?? "", join(import.meta.dir, "requirements.txt"));
    herald = await startHerald({ env: { HERALD_DEMO: "1" } });
  });
  afterAll(async () => {
    await herald.stop();
    rmSync(folder, { recursive: true });
  });

  test.each(programsIn("python"))("becomes one message: %s", async (name, text) => {
    using model = startModelServer(words);
    writeFileSync(join(folder, `${name}.py`), text);
    const before = (await heard(herald)).length;
    const env = { ...envOf(herald), ...model.env, PYTHONPATH: join(root, "sdk-python/src") };
    expect(await run([interpreter, `${name}.py`], folder, env)).toEqual({ code: 0, printed: "" });
    const messages = await heard(herald);
    expect(messages).toHaveLength(before + 1);
    expect(messages[0]).toMatchObject(whole);
    expect(messages[0]).not.toHaveProperty("open");
  });
});
