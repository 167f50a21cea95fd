import { guideKinds, guideText, type Summary, summaryOf } from "../guides.ts";
import { cliCommand, exampleHost, exampleKeyFile, hiddenCliNote, hiddenKeyNote, placeGuide } from "../place.ts";
import { html, prose, trusted } from "./html.ts";
import { type Entry, folded, type Page } from "./layout.ts";
import { type Heading, renderMarkdown } from "./markdown.ts";
import { guidePath, guidesPath } from "./paths.ts";

/** The pages of the documentation in Markdown, by their names, such as `how-to/receive.md`. */
export type GuideTexts = ReadonlyMap<string, string>;

type Kind = keyof typeof guideKinds;

const kinds = Object.keys(guideKinds) as Kind[];
const place = { url: `http://${exampleHost}`, keyFile: exampleKeyFile };

/** `/docs/guides`, which lists the guides, and a page for each of them. */
export function guidePages(guides: GuideTexts): Page[] {
  const summaries = new Map([...guides].map(([name, markdown]) => [name, summaryOf(markdown)] as const));
  const pages = [...guides].map(([name, markdown]) => guidePage(name, markdown, summaries));
  return [indexPage(summaries), ...pages];
}

function indexPage(summaries: ReadonlyMap<string, Summary>): Page {
  const itemsOf = (kind: Kind) =>
    namesOf(kind, summaries).map(
      (
        name,
      ) => html`<li><a href="${guidePath(name)}">${prose(titleOf(name, summaries))}</a><br>${prose(summaries.get(name)?.sentence ?? "")}</li>
`,
    );
  return {
    path: guidesPath,
    title: "Guides",
    entries: kinds.map((kind) => ({ id: kind, label: guideKinds[kind], entries: entriesOf(kind, summaries) })),
    main: html`<h1>Guides</h1>
<p class="lead">How to do it, how it works, and what it is called.</p>
${kinds.map(
  (kind) => html`<section id="${kind}"><h2><a href="#${kind}">${guideKinds[kind]}</a></h2>
<ul class="guides">${itemsOf(kind)}</ul></section>
`,
)}`,
  };
}

function guidePage(name: string, markdown: string, summaries: ReadonlyMap<string, Summary>): Page {
  const kind = kinds.find((one) => name.startsWith(`${one}/`)) ?? "explanation";
  const text = placeGuide(
    guideText(name, markdown, (other) => summaries.has(other)),
    place,
  );
  const { main, headings, readsKey, usesCli } = renderMarkdown(text, (target) => hrefOf(name, target));
  const end = main.markup.indexOf("</h1>") + "</h1>".length;
  const title = titleOf(name, summaries);
  return {
    path: guidePath(name),
    title: title.replaceAll("`", ""),
    entries: [
      ...partsOf(title, headings),
      { href: `${guidesPath}#${kind}`, label: guideKinds[kind], entries: entriesOf(kind, summaries) },
    ],
    main: html`<p class="quiet"><a href="${guidesPath}#${kind}">${guideKinds[kind]}</a> · <a href="/docs/${name}">Markdown</a></p>
<div class="guide">
${trusted(main.markup.slice(0, end))}
${readsKey ? keyNote() : undefined}
${usesCli ? cliNote() : undefined}
${trusted(name === "reference/cli.md" ? foldCommands(main.markup.slice(end)) : main.markup.slice(end))}</div>`,
  };
}

/** Folds what a page says about each command, which a table above lists. */
function foldCommands(markup: string): string {
  return markup.replaceAll(
    /(<h3 .*?<\/h3>)((?:(?!<h[23] )[\s\S])*)/g,
    (_, heading: string, rest: string) =>
      html`<section class="command">${trusted(heading)}
${folded("Usage, options and examples", trusted(rest))}</section>
`.markup,
  );
}

/** Where a link of a guide leads: to the HTML of another guide, or elsewhere. */
function hrefOf(name: string, target: string): string {
  if (/^(?:[a-z]+:|#)/.test(target)) return target;
  const { pathname, hash } = new URL(target, `http://herald/docs/${name}`);
  return (pathname.startsWith("/docs/") ? guidePath(pathname.slice("/docs/".length)) : pathname) + hash;
}

function partsOf(title: string, headings: Heading[]): Entry[] {
  const entries = headings.filter(({ level }) => level === 2).map(({ id, text }) => ({ id, label: text }));
  return entries.length === 0 ? [] : [{ id: "main", label: title.replaceAll("`", ""), entries }];
}

function entriesOf(kind: Kind, summaries: ReadonlyMap<string, Summary>): Entry[] {
  return namesOf(kind, summaries).map((name) => ({
    href: guidePath(name),
    label: titleOf(name, summaries).replaceAll("`", ""),
  }));
}

function namesOf(kind: Kind, summaries: ReadonlyMap<string, Summary>): string[] {
  return [...summaries.keys()].filter((name) => name.startsWith(`${kind}/`));
}

function titleOf(name: string, summaries: ReadonlyMap<string, Summary>): string {
  return summaries.get(name)?.title ?? name;
}

function keyNote() {
  return html`<p ${trusted(hiddenKeyNote)}>The commands on this page call this server, <code>${place.url}</code>, and read an API key from the file <code>${exampleKeyFile}</code> in the current folder: save one there first.</p>`;
}

function cliNote() {
  return html`<p ${trusted(hiddenCliNote)}>In each terminal, before the commands that begin with <code>${cliCommand}</code>, run <code>export HERALD_URL=${place.url} HERALD_ADMIN_API_KEY=$(cat ${exampleKeyFile})</code>.</p>`;
}
