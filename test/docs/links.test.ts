import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { clientVariables, describeSettings } from "../../src/config.ts";
import { closeCodes } from "../../src/contract/connections/close-codes.ts";
import { errorCatalogue } from "../../src/contract/errors/errors.ts";
import { allPages, anchorsOf, type Page, proseOf, root } from "./markdown.ts";

const pages = allPages();
const anchors = new Map(pages.map((page) => [page.path, anchorsOf(page)]));
const each = pages.map((page): [string, Page] => [page.path, page]);

/** The text of all source files below a folder. */
function sourcesBelow(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
  return files.map((path) => readFileSync(join(folder, path), "utf8")).join("\n");
}

/** Why a link is broken, if it is. Links to other sites are not followed. */
function faultOf(page: Page, link: string): string | undefined {
  if (/^[a-z]+:/.test(link)) return undefined;
  const [file = "", anchor] = link.split("#");
  const target = file === "" ? page.path : relative(root, resolve(root, dirname(page.path), file));
  if (!existsSync(join(root, target))) return `${link}: no such file`;
  if (anchor !== undefined && anchors.get(target)?.has(anchor) !== true) return `${link}: no such heading`;
  return undefined;
}

/** What says nothing about where a link leads, as search engines and Lighthouse see it: "Go" could be a button. */
const saysNothing = /^(?:go|here|more|start|this|(?:learn|read|see) more)$/i;

describe("links lead somewhere, and say where", () => {
  test.each(each)("%s", (_path, page) => {
    const links = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link ?? "");
    expect(links.map((link) => faultOf(page, link)).filter((fault) => fault !== undefined)).toEqual([]);
    const texts = [...proseOf(page).matchAll(/\[([^\]]+)\]\(/g)].map(([, text]) => text ?? "");
    expect(texts.filter((text) => saysNothing.test(text))).toEqual([]);
  });
});

describe("names are those of the code", () => {
  const settings = new Set([...describeSettings().map(({ name }) => name), ...clientVariables]);
  const sources = sourcesBelow(join(root, "src"));
  const isSentence = /^[a-z][a-z']*(?: [\w…;,:'.-]+){2,}$/;
  const isCommand =
    /^(npm|npx|exec|herald|systemctl|systemd-analyze|journalctl|sudo|git|apt-get|docker|podman|kubectl|helm) /;
  const folders = /^(src|sdk|test|tools|bench|bin|docs|deploy)\/[\w./-]+$/;
  // Decisions also describe plans, and generated pages are made from the code.
  const present = each.filter(([path]) => !/^docs\/(decisions\/000|reference)/.test(path));

  test.each(present)("%s names files and settings that exist", (_path, page) => {
    const names = [...proseOf(page).matchAll(/`([^`\n]+)`/g)].map(([, name]) => name ?? "");
    const files = names.filter((name) => folders.test(name) && !existsSync(join(root, name)));
    const mentioned = [...page.text.matchAll(/\bHERALD_[A-Z_]+[A-Z]\b(?!…)/g)].map(([name]) => name);
    expect({ files, settings: mentioned.filter((name) => !settings.has(name)) }).toEqual({ files: [], settings: [] });
  });

  // What PostgreSQL says, which pages quote, too.
  const ofPostgres = new Set(["cannot PREPARE a transaction that has executed LISTEN, UNLISTEN, or NOTIFY"]);

  test.each(present)("%s quotes lines of the log as they are", (_path, page) => {
    const quoted = [
      ...proseOf(page)
        .replaceAll(/\s+/g, " ")
        .matchAll(/`([a-z][^`]*)`/g),
    ].map(([, text]) => text ?? "");
    const lines = quoted.filter((text) => isSentence.test(text) && !isCommand.test(text));
    expect(lines.filter((line) => !ofPostgres.has(line) && !sources.includes(line))).toEqual([]);
  });

  test.each(each)("%s names close codes and error codes that exist", (_path, page) => {
    const known = new Set<string>(Object.values(closeCodes).map(({ code }) => String(code)));
    const text = page.text.replace(/<!-- figures: begin -->.*?<!-- figures: end -->/gs, "");
    const codes = [...proseOf({ ...page, text }).matchAll(/\b44\d\d\b/g)].map(([code]) => code);
    expect(codes.filter((code) => !known.has(code))).toEqual([]);
    const errors = [...proseOf(page).matchAll(/\b[45]\d\d `(\w+)`/g)].map(([, code]) => code ?? "");
    expect(errors.filter((code) => !Object.hasOwn(errorCatalogue, code))).toEqual([]);
  });
});

test("a message's path through the code is at most 20 files, one per step", () => {
  const [, way = ""] = pages.find(({ path }) => path === "CONTRIBUTING.md")?.text.split("## A message's way") ?? [];
  const [list = ""] = way.split("A client that connects");
  const steps = [...list.matchAll(/^(\d+)\. `(src\/[\w./-]+\.ts)` /gm)].map(([, step]) => Number(step));
  expect(steps).toEqual(Array.from(steps, (_, index) => index + 1));
  expect(steps.length).toBeWithin(15, 21);
  expect(list.match(/\.ts`/g)).toHaveLength(steps.length);
});
