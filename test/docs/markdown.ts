import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";

/** The folder of the repository. */
export const root = resolve(import.meta.dir, "../..");

/** A fenced code block. The fence gives the language and how the block is tested; CONTRIBUTING.md lists the ways. */
export type Block = { line: number; language: string; how: string; argument: string; text: string };

/** One page of documentation. */
export type Page = { path: string; text: string; blocks: Block[] };

const fence = /^( *)```([^\n]*)\n([\s\S]*?)^ *```$/gm;

function blocksOf(text: string): Block[] {
  return [...text.matchAll(fence)].map(({ index, 1: indent = "", 2: info = "", 3: body = "" }) => {
    const [language = "", how = "", ...rest] = info.trim().split(/ +/);
    const unindented = body.replaceAll(new RegExp(`^${indent}`, "gm"), "");
    return { line: text.slice(0, index).split("\n").length, language, how, argument: rest.join(" "), text: unindented };
  });
}

/** Reads a page; `path` is relative to the repository. */
export function readPage(path: string): Page {
  const text = readFileSync(join(root, path), "utf8");
  return { path, text, blocks: blocksOf(text) };
}

function markdownBelow(folder: string): string[] {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .flatMap((path) => (statSync(path).isDirectory() ? markdownBelow(path) : path.endsWith(".md") ? [path] : []));
}

/** Every page for people: at the top of the repository, below docs/, and those of the SDKs. */
export function allPages(): Page[] {
  const ofSdks = ["sdk", "sdk-go", "sdk-python"].map((folder) => join(folder, "README.md"));
  const top = readdirSync(root).filter((name) => name.endsWith(".md"));
  const below = markdownBelow(join(root, "docs")).map((path) => relative(root, path));
  return [...top, ...below, ...ofSdks].sort().map(readPage);
}

/** A page without its code blocks and comments, to search for links and names. */
export function proseOf({ text }: Page): string {
  return text.replaceAll(fence, "").replaceAll(/<!--[\s\S]*?-->/g, "");
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf({ text }: Page): Set<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading = ""] of text.replaceAll(fence, "").matchAll(/^#{1,6} +(.+)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const slug = plain.replaceAll(/[^\p{L}\p{N}\p{Pc} -]/gu, "").replaceAll(" ", "-");
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}
