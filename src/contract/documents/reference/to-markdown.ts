import { posix } from "node:path";
import { NodeHtmlMarkdown } from "node-html-markdown";
import type { Page } from "./layout.ts";
import { markdownPath } from "./paths.ts";

const converter = new NodeHtmlMarkdown({ bulletMarker: "-", maxConsecutiveNewlines: 2 });

const hiddenNote = /<p class="note" hidden.*?<\/p>/gs;
const headingOfItself = /(<h[1-6]>)<a href="#[^"]*">(.*?)<\/a>(?=<\/h[1-6]>)/gs;
const summary = /<summary>(.*?)<\/summary>/gs;
const linkInside = /(<a [^>]*href=")(\/[^"#]*)/g;
const escapedUnderscore = /%5F|(?<=\w)\\_(?=\w)/g; // in addresses and within words, where Markdown needs no escape

/** A page of `/docs` in Markdown (GitHub's). Its links are relative, and lead to Markdown where `paths` has the page. */
export function toMarkdown({ path, main }: Page, paths: ReadonlySet<string>): string {
  const folder = posix.dirname(path);
  const markup = main.markup
    .replaceAll(hiddenNote, "")
    .replaceAll(headingOfItself, "$1$2")
    .replaceAll(summary, "<p>$1</p>")
    .replaceAll(linkInside, (_, start: string, target: string) => {
      return start + posix.relative(folder, paths.has(target) ? markdownPath(target) : target);
    });
  return `${converter.translate(markup).replaceAll(escapedUnderscore, "_").trim()}\n`;
}
