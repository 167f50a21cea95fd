import { about } from "../about.ts";
import { type Html, html, trusted } from "./html.ts";
import script from "./page-script.js" with { type: "text" };
import { guidesPath, isGuide, markdownPath, searchDataPath, searchScriptPath } from "./paths.ts";
import stylesheet from "./style.css" with { type: "text" };

/** An entry of the navigation. Links to the element with its `id`, or to another page. */
export type Entry = ({ id: string } | { href: string }) & { label: string; entries?: Entry[] };

/** A page of `/docs`. */
export type Page = { path: string; title: string; entries: Entry[]; main: Html };

const documents = [
  { path: guidesPath, label: "Guides" },
  { path: "/docs", label: "HTTP API" },
  { path: "/docs/realtime", label: "Real time" },
  { path: "/docs/errors", label: "Errors" },
] as const;

const machineDocuments = [
  { path: "/openapi.json", label: "openapi.json" },
  { path: "/asyncapi.json", label: "asyncapi.json" },
  { path: "/llms.txt", label: "llms.txt" },
] as const;

/** The field in the header. The page's script shows it, and loads what it needs as soon as it is used. */
const searchField = html`<div class="search" role="search" data-script="${searchScriptPath}" data-index="${searchDataPath}" hidden>
<input type="search" role="combobox" aria-label="Search the documentation" aria-controls="found" aria-expanded="false" aria-autocomplete="list" placeholder="Search" autocomplete="off" autocapitalize="none" spellcheck="false">
<kbd aria-hidden="true">/</kbd>
<div class="found" hidden><p role="status"></p><div id="found" role="listbox" aria-label="Results"></div></div>
</div>`;

/** The complete HTML of a page. The page loads no other resources until the reader searches. */
export function layOut({ path, title, entries, main }: Page): string {
  const within = sectionOf(path);
  const links = [...documents, ...machineDocuments].map((document) =>
    document.path === within
      ? html`<a href="${document.path}" aria-current="page">${document.label}</a>`
      : html`<a href="${document.path}">${document.label}</a>`,
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${about.tagline}">
<title>${title} · ${about.title}</title>
<style>${trusted(stylesheet)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top">
<a class="brand" href="/docs">${about.title}</a>
<nav aria-label="Documents">${links}</nav>
${searchField}
</header>
<div class="page">
<nav class="side" aria-label="On this page">${listOf(entries)}</nav>
<main id="main">
${main}
${isGuide(path) ? undefined : html`<p class="quiet"><a href="${markdownPath(path)}">Markdown</a></p>`}
</main>
</div>
<script>${trusted(script)}</script>
</body>
</html>
`.markup;
}

/** The document to which a page belongs. */
function sectionOf(path: string): string {
  if (path.startsWith("/docs/close-codes/")) return "/docs/realtime";
  if (isGuide(path) || path === guidesPath) return guidesPath;
  return documents.findLast((document) => path === document.path || path.startsWith(`${document.path}/`))?.path ?? "";
}

function listOf(entries: Entry[]): Html {
  return html`<ul>${entries.map(
    ({ label, entries: inner = [], ...to }) =>
      html`<li><a href="${"href" in to ? to.href : `#${to.id}`}">${label}</a>${inner.length > 0 ? listOf(inner) : undefined}</li>`,
  )}</ul>`;
}

/** A block of code with a caption. It scrolls on its own, also with the keyboard. */
export function codeBlock(caption: string, code: Html | string, className = ""): Html {
  return html`<figure class="${className}"><figcaption>${caption}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`;
}

/** What readers open when they need it. An anchor of the section around it, or within it, opens it, too. */
export function folded(summary: Html | string, content: Html): Html {
  return html`<details><summary>${summary}</summary>
${content}</details>
`;
}

/** The method and the path of an operation. A long path breaks before a slash. */
export function addressOf({ method, path }: { method: string; path: string }): Html {
  const [first = "", ...others] = path.split("/");
  const parts = others.map((part, index) => html`${index === 0 ? undefined : trusted("<wbr>")}/${part}`);
  return html`<span class="address"><span class="method ${method}">${method.toUpperCase()}</span> <code>${first}${parts}</code></span>`;
}

/** Blocks of code, side by side where there is room. */
export function examples(...blocks: Html[]): Html {
  return html`<div class="examples">${blocks}</div>`;
}

/** A table that scrolls on its own where it is too wide, also with the keyboard. */
export function scrollingTable(label: string, table: Html): Html {
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">${table}</div>`;
}
