import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isGuide } from "../../src/contract/documents/reference/paths.ts";
import { readPage, root } from "../docs/markdown.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { useHerald } from "../harness/servers/herald.ts";

const herald = useHerald();

const kinds = ["tutorial", "how-to", "reference", "explanation"];
const pages = kinds.flatMap((kind) =>
  readdirSync(join(root, "docs", kind))
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${kind}/${file}`),
);
const inRepository = /^https:\/\/github\.com\/herald-im\/herald\/(?:blob|raw)\/main\/([^#]+)/;

const read = (path: string) => herald().http<string>("GET", path);
const linksOf = (markdown: string) => [...markdown.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);

describe("llms.txt", () => {
  test("has a heading, a summary, and a list of links with a sentence each under every kind (llmstxt.org)", async () => {
    const { status, headers, text } = await read("/llms.txt");
    expect([status, headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
    const [heading, summary, introduction, ...sections] = text.trimEnd().split("\n\n");
    expect(heading).toBe("# Herald");
    expect(summary).toMatch(/^> [^\n]+$/);
    expect(introduction).toMatch(/^[^#>-][^\n]+$/);
    expect(sections.filter((part) => part.startsWith("## "))).toEqual([
      "## Tutorial",
      "## How-to guides",
      "## Reference",
      "## Explanation",
    ]);
    const items = sections.filter((part) => !part.startsWith("## ")).flatMap((part) => part.split("\n"));
    for (const item of items) expect(item).toMatch(/^- \[[^\]]+\]\(\/[\w./-]+\): [^[\]*]+\.$/);
    expect(items).toHaveLength(pages.length + 6);
  });

  test("names each page by its heading, and what it leads to is there", async () => {
    const { text } = await read("/llms.txt");
    for (const path of pages) {
      const [, title = ""] = /^# (.+)$/m.exec(readPage(path).text) ?? [];
      expect(text).toContain(`- [${title}](/${path}): `);
    }
    for (const target of linksOf(text))
      expect({ target, status: (await read(target)).status }).toMatchObject({ status: 200 });
  });
});

test("each page is served as Markdown, and its links lead to what is at the server or in the repository", async () => {
  const checked = new Set<string>();
  for (const path of pages) {
    const { status, headers, text } = await read(`/${path}`);
    expect([path, status, headers.get("content-type")]).toEqual([path, 200, "text/markdown; charset=utf-8"]);
    expect(text.split("\n")[0]).toBe(readPage(path).text.split("\n")[0]);
    for (const link of linksOf(text)) {
      const { href, origin, pathname } = new URL(link, `http://herald/${path}`);
      const [, file] = inRepository.exec(href) ?? [];
      if (file !== undefined)
        expect({ path, link, exists: existsSync(join(root, file)) }).toMatchObject({ exists: true });
      if (origin !== "http://herald" || checked.has(pathname)) continue;
      checked.add(pathname);
      expect({ path, link, status: (await read(pathname)).status }).toEqual({ path, link, status: 200 });
    }
  }
  expect(checked.size).toBeGreaterThan(30);
  expect([...checked]).toContain("/openapi.json");
});

test("each page is served as HTML, too, and its links lead to pages that are there", async () => {
  for (const path of pages) {
    const { status, headers, text } = await read(`/${path.replace(".md", "")}`);
    expect([path, status, headers.get("content-type")]).toEqual([path, 200, "text/html; charset=utf-8"]);
    expect(text).toContain(`href="/${path}"`);
  }
  const { text } = await read("/docs/guides");
  for (const path of pages) expect(text).toContain(`<a href="/${path.replace(".md", "")}">`);
});

test("the changelog is a page, too, in both forms, and its links lead to guides and to the repository", async () => {
  const { text } = await read("/docs/reference/changelog.md");
  expect(text).toStartWith("# Changelog\n");
  const links = linksOf(text).filter((link) => !link.startsWith("https://"));
  expect(links).toContain("../how-to/sign-in-people.md");
  expect(links.filter((link) => !/^\.\.\/(?:how-to|reference|explanation|tutorial)\//.test(link))).toEqual([]);
  const { status, text: page } = await read("/docs/reference/changelog");
  expect([status, page.includes('<a href="/docs/how-to/sign-in-people"')]).toEqual([200, true]);
});

test("so is each other page of /docs, and what it links to is there", async () => {
  const found = new Set(["/docs.md"]);
  for (const path of found) {
    const { status, headers, text } = await read(path);
    expect([path, status, headers.get("content-type")]).toEqual([path, 200, "text/markdown; charset=utf-8"]);
    expect([path, isGuide(path) || !text.includes("localhost:7070")]).toEqual([path, true]);
    for (const link of linksOf(text)) {
      const { origin, pathname } = new URL(link, `http://herald${path}`);
      if (origin === "http://herald" && pathname.endsWith(".md")) found.add(pathname);
    }
  }
  const ofErrors = [...found].filter((path) => path.startsWith("/docs/errors/"));
  expect(ofErrors).toContain("/docs/errors/rate_limited.md");
  for (const page of ["/docs/realtime.md", "/docs/close-codes/4401.md", "/docs/api/messages.md", "/docs/guides.md"])
    expect([...found]).toContain(page);
  expectProblem(await herald().http("GET", "/docs/errors/none.md"), 404, "not_found");
});

test("nothing else is: no decisions, no other files, none outside of the folder", async () => {
  const others = [
    "decisions/README.md",
    "decisions/README",
    "how-to/none.md",
    "how-to/none",
    "reference/openapi.json",
    "console/demo-380-dark.png",
  ];
  const outside = [
    "how-to/%2e%2e%2fREADME.md",
    "how-to/..%2f..%2fpackage.json",
    "%2e%2e/package.json",
    "how-to/%00.md",
  ];
  for (const name of [...others, ...outside]) {
    const answer = await herald().http("GET", `/docs/${name}`);
    expect({ name, status: answer.status }).toEqual({ name, status: 404 });
    expectProblem(answer, 404, "not_found");
  }
});
