import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { loadConfig } from "../../src/config.ts";
import { allPages, type Block, type Page } from "./markdown.ts";
import { areFirstSteps, runPage } from "./page-runner.ts";
import { contractSchemas } from "./schemas.ts";
import { createWorkspace, packageScripts, readersEnvironment, writeSnippet } from "./workspace.ts";

setDefaultTimeout(180_000);

const pages = allPages();
/** How a block of each language may be tested. A `text` block without a word is a picture and is not tested. */
const ways: Record<string, string[]> = {
  sh: ["start", "run", "background", "page", "manual"],
  ts: ["run", "call", "background", "browser", "page", "outbox", "framework"], // what has a `framework` is run by test/packages/frameworks
  js: ["run", "background", "browser"], // what has a `browser` is run by browser.long.test.ts
  jsx: ["browser"],
  json: [...contractSchemas().keys()],
  text: ["", "output", "heard"],
  ini: ["settings"],
  html: ["page"], // run by test/packages, like every `page`
  go: ["main", "call", "outbox"], // run by test/sdk-languages, as are those of Python; those with `outbox` by test/outbox
  python: ["main", "background", "call", "outbox", "framework"],
  sql: ["outbox", "prepared"],
};

const blocks = (how: (block: Block) => boolean): [string, Block][] =>
  pages.flatMap((page) =>
    page.blocks.filter(how).map((block): [string, Block] => [`${page.path}:${block.line}`, block]),
  );

test("every code block says in a known way how it is tested", () => {
  const unknown = blocks(({ language, how }) => ways[language]?.includes(how) !== true);
  expect(unknown.map(([place, { language, how }]) => `${place} ${language} ${how}`)).toEqual([]);
});

describe("the instructions that newcomers follow work", () => {
  const firstSteps = pages.filter(areFirstSteps);
  test.each(firstSteps.map((page): [string, Page] => [page.path, page]))("%s", async (_path, page) => {
    await runPage(page);
  });
});

describe("code that is not run here is at least valid", () => {
  test.each(blocks(({ how }) => how === "manual"))("%s", (_place, { text }) => {
    using workspace = createWorkspace();
    const path = writeSnippet(workspace, "manual.sh", text);
    const { exitCode, stderr } = Bun.spawnSync(["bash", "-n", path], { env: readersEnvironment({}) });
    expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
    const scripts = [...text.matchAll(/npm (?:run )?(test|start|(?<=run )[\w:-]+)/g)].map(([, name]) => name ?? "");
    expect(scripts.filter((name) => !packageScripts().has(name))).toEqual([]);
  });
});

describe("JSON examples match the contract", () => {
  const schemas = contractSchemas();
  test.each(blocks(({ language }) => language === "json"))("%s", (_place, { how, text }) => {
    expect(Array.from(schemas.keys())).toContain(how);
    expect(schemas.get(how)?.safeParse(JSON.parse(text)).error?.issues).toBeUndefined();
  });
});

describe("settings examples are accepted", () => {
  test.each(blocks(({ how }) => how === "settings"))("%s", (_place, { text }) => {
    using workspace = createWorkspace();
    expect(() => loadConfig({}, writeSnippet(workspace, "herald.env", text))).not.toThrow();
  });
});
