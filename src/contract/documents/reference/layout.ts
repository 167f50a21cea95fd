import { about } from "../about.ts";
import { type Html, html, trusted } from "./html.ts";
import stylesheet from "./style.css" with { type: "text" };

/** An entry of the navigation. Links to the element with its `id`. */
export type Entry = { id: string; label: string; entries?: Entry[] };

/** A page of `/docs`. */
export type Page = { path: string; title: string; entries: Entry[]; main: Html };

const documents = [
  { path: "/docs", label: "HTTP API" },
  { path: "/docs/realtime", label: "Real time" },
  { path: "/docs/errors", label: "Errors" },
] as const;

/** The paths of the pages. */
export const pagePaths = documents.map(({ path }) => path);

const machineDocuments = [
  { path: "/openapi.json", label: "openapi.json" },
  { path: "/asyncapi.json", label: "asyncapi.json" },
] as const;

/** The complete HTML of a page. The page loads no other resources. */
export function layOut({ path, title, entries, main }: Page): string {
  const links = [...documents, ...machineDocuments].map((document) =>
    document.path === path
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
</header>
<div class="page">
<nav class="side" aria-label="On this page">${listOf(entries)}</nav>
<main id="main">
${main}
</main>
</div>
</body>
</html>
`.markup;
}

function listOf(entries: Entry[]): Html {
  return html`<ul>${entries.map(
    ({ id, label, entries: inner = [] }) =>
      html`<li><a href="#${id}">${label}</a>${inner.length > 0 ? listOf(inner) : undefined}</li>`,
  )}</ul>`;
}

/** A block of code with a caption. It scrolls on its own, also with the keyboard. */
export function codeBlock(caption: string, code: Html | string, className = ""): Html {
  return html`<figure class="${className}"><figcaption>${caption}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`;
}

/** Blocks of code, side by side where there is room. */
export function examples(...blocks: Html[]): Html {
  return html`<div class="examples">${blocks}</div>`;
}

/** A table that scrolls on its own where it is too wide, also with the keyboard. */
export function scrollingTable(label: string, table: Html): Html {
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">${table}</div>`;
}
