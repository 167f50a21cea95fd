import { unescaped } from "./html.ts";
import type { Page } from "./layout.ts";

/** A part of a page that a reader can find: its anchor (empty for the page itself), its heading, its text. */
export type SearchPart = [anchor: string, heading: string, text: string];

/** What a reader searches: of each page its address below `/docs/`, its title, and its parts. */
export type SearchData = [path: string, title: string, parts: SearchPart[]][];

type Part = { anchor: string; heading: string; text: string };

/** Pages that only repeat what others say in full. */
const repeated = new Set([
  ...["/docs/errors", "/docs/guides"],
  ...["changelog", "close-codes", "errors"].map((name) => `/docs/reference/${name}`),
]);
/** Lists of links to other parts, what is not of the page itself, and what nobody searches in tables of fields. */
const leftOut = /class="(?:contents|codes|quiet|note|type|required|limits)"/;
const leftOutTags = new Set(["h1", "h4", "thead", "figcaption"]);
/** What opens a part of a page says little, except for an operation: its method and its path. */
const leftOutSummary = /<summary>(?!<span class="address">)[^<]*<\/summary>/g;
const token = /<(\/?)([a-z]\w*)([^>]*)>|([^<]+)/g;
const isVoid = /^(?:br|hr|input)$/;
const startsPart = /^h[23]$/;
const isInline = /^(?:a|code|span|strong|em|kbd)$/;

/** Collects what readers search, from the pages themselves. */
export function searchData(pages: readonly Page[]): SearchData {
  return pages
    .filter(({ path }) => !repeated.has(path))
    .map((page) => [page.path.replace(/^\/docs\/?/, ""), page.title, partsOf(page)]);
}

/** The parts of a page: from each heading that has an anchor, or row that has one, to the next. Guides are searched with their code. */
function partsOf({ title, main: { markup } }: Page): SearchPart[] {
  const isGuide = markup.includes('class="guide"');
  const parts: Part[] = [];
  let part = begin("", title);
  let depth = 0;
  let leftOutAt = Number.POSITIVE_INFINITY;
  let heading = "";
  for (const [, end, tag = "", attributes = "", text] of markup.replaceAll(leftOutSummary, "").matchAll(token)) {
    if (text !== undefined) {
      if (leftOutAt <= depth) continue;
      if (heading === "") part.text += text;
      else part.heading += text;
      continue;
    }
    if (tag === "wbr") continue;
    if (!isInline.test(tag)) part.text += " ";
    if (isVoid.test(tag)) continue;
    if (end === "/") {
      if (depth === leftOutAt) leftOutAt = Number.POSITIVE_INFINITY;
      if (tag === heading) heading = "";
      depth--;
      continue;
    }
    depth++;
    const isLeftOut = leftOut.test(attributes) || leftOutTags.has(tag) || (tag === "figure" && !isGuide);
    if (isLeftOut) leftOutAt = Math.min(leftOutAt, depth);
    const [, id = ""] = /\bid="([^"]+)"/.exec(attributes) ?? [];
    if (tag === "tr" && id !== "") part = begin(id, id);
    const [, anchor = ""] = /\bhref="#([^"]+)"/.exec(attributes) ?? [];
    if (startsPart.test(tag)) heading = tag;
    else if (tag === "a" && anchor !== "" && heading !== "") part = begin(anchor);
  }

  function begin(anchor: string, heading = ""): Part {
    const begun = { anchor, heading, text: "" };
    parts.push(begun);
    return begun;
  }

  return parts
    .map(({ anchor, heading, text }): SearchPart => [anchor, tidy(heading), tidy(text)])
    .filter(([anchor, , text]) => anchor === "" || text !== "");
}

function tidy(text: string): string {
  return unescaped(text).replaceAll(/\s+/g, " ").trim();
}
