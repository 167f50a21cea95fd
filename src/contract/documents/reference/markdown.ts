import { commandLanguages, exampleKeyFile, findsServer } from "../place.ts";
import { guideTable, textOf } from "./guide-table.ts";
import { type Html, html, trusted } from "./html.ts";
import { codeBlock } from "./layout.ts";
import { tabbed } from "./tabs.ts";

/** A heading of a page, and the anchor that GitHub gives it, too. */
export type Heading = { id: string; text: string; level: number };

/** A page in HTML. `readsKey`: whether its commands read the file with an API key; `usesCli`: whether they call the command line. */
export type Rendered = { main: Html; headings: Heading[]; readsKey: boolean; usesCli: boolean };

const captions: Record<string, string> = {
  sh: "Shell",
  ts: "TypeScript",
  js: "JavaScript",
  jsx: "JSX",
  go: "Go",
  python: "Python",
  json: "JSON",
  ini: "Settings",
  html: "HTML",
  sql: "SQL",
  output: "Output",
};
/** The fence of what a command prints. */
const fenceOfOutput = /^( *```)text (?:output|heard)$/gm;
const inlineTags = new Set(["<br>", "<kbd>", "</kbd>"]);
/** The first cell of a row that describes something by its name, such as a setting. */
const named = /^<td><code>([A-Za-z][\w.-]*)<\/code><\/td>/;

/** Renders a page of the documentation. `hrefOf` says where a link leads. Text is escaped; of HTML, only a few tags pass. */
export function renderMarkdown(markdown: string, hrefOf: (target: string) => string): Rendered {
  const headings: Heading[] = [];
  const ids = new Set<string>();
  const labels = new Map<string, number>();
  let readsKey = false;
  let usesCli = false;
  /** The name of a table: that of its section, which has a number from the second table on. */
  const labelOfTable = () => {
    const section = headings.at(-1)?.text ?? "Table";
    const number = (labels.get(section) ?? 0) + 1;
    labels.set(section, number);
    return number === 1 ? section : `${section}, ${number}`;
  };
  const element = (tag: string) => (children: string) => `<${tag}>${children}</${tag}>\n`;
  const markup = Bun.markdown.render(
    markdown.replaceAll(fenceOfOutput, "$1output"),
    {
      text: (text) => (inlineTags.has(text) ? text : Bun.escapeHTML(text)),
      html: (text) => (text.startsWith("&lt;!--") ? "" : text),
      heading(children, { level, id = "" }) {
        ids.add(id);
        headings.push({ id, text: textOf(children), level });
        if (level === 1) return `<h1>${children}</h1>\n`;
        return `<h${level} id="${id}"><a href="#${id}">${withoutLinks(children)}</a></h${level}>\n`;
      },
      code(text, { language = "" } = {}) {
        const code = text.replace(/\n$/, "");
        readsKey ||= commandLanguages.has(language) && code.includes(exampleKeyFile);
        usesCli ||= commandLanguages.has(language) && code.split("\n").some(findsServer);
        return `${codeBlock(captions[language] ?? "Text", trusted(code)).markup}\n`;
      },
      link: (children, { href }) => html`<a href="${hrefOf(href)}">${trusted(children)}</a>`.markup,
      image: (children, { src }) => html`<a href="${hrefOf(src)}">Picture: ${trusted(children)}</a>`.markup,
      list: (children, { ordered, start = 1 }) =>
        ordered ? `<ol${start === 1 ? "" : ` start="${start}"`}>${children}</ol>\n` : `<ul>${children}</ul>\n`,
      listItem: element("li"),
      paragraph: element("p"),
      blockquote: element("blockquote"),
      strong: (children) => `<strong>${children}</strong>`,
      emphasis: (children) => `<em>${children}</em>`,
      codespan: (children) => `<code>${children}</code>`,
      hr: () => "<hr>\n",
      table: (children) => `${guideTable(labelOfTable(), children).markup}\n`,
      thead: element("thead"),
      tbody: element("tbody"),
      th: (children) => (children === "" ? "<td></td>" : `<th scope="col">${children}</th>`),
      td: (children) => `<td>${children}</td>`,
      tr(children) {
        const [, name = ""] = named.exec(children) ?? [];
        if (name === "" || ids.has(name)) return `<tr>${children}</tr>\n`;
        ids.add(name);
        return `<tr id="${name}">${children}</tr>\n`;
      },
    },
    { headings: { ids: true } },
  );
  return { main: trusted(tabbed(markup)), headings, readsKey, usesCli };
}

function withoutLinks(markup: string): string {
  return markup.replaceAll(/<\/?a\b[^>]*>/g, "");
}
