import { type Html, html, trusted, unescaped } from "./html.ts";
import { scrollingTable } from "./layout.ts";

const fewCharacters = 40;
const headCell = /<th scope="col">(.*?)<\/th>|<td><\/td>/g;
const row = /(<tr[^>]*>)(.*?)(?=<\/tr>)/g;
const cell = /<td>(.*?)<\/td>/g;
const emptyCorner = /<tr[^>]*><td><\/td>/;
const firstCell = /(<tr[^>]*>)<td>(.*?)<\/td>/g;

/**
 * A table of a guide, from its head and its body. On phones, one with sentences in it shows the cells of a row below each other, each
 * after the title of its column; one of figures scrolls. The first column is the header of the rows if it has no title itself.
 */
export function guideTable(label: string, rows: string): Html {
  const [head = "", cells = ""] = rows.split("</thead>");
  const body = emptyCorner.test(head) ? cells.replaceAll(firstCell, '$1<th scope="row">$2</th>') : cells;
  const hasSentences = [...cells.matchAll(cell)].some(([, content = ""]) => textOf(content).length > fewCharacters);
  if (!hasSentences) return scrollingTable(label, html`<table>${trusted(`${head}</thead>${body}`)}</table>`);
  const titles = [...head.matchAll(headCell)].map(([, title = ""]) => textOf(title));
  const titled = body.replaceAll(row, (_, start: string, cells: string) => start + withTitles(cells, titles));
  return scrollingTable(label, html`<table class="stacked">${trusted(`${head}</thead>${titled}`)}</table>`);
}

/** The cells of a row. Each but the first, which says what the row is about, names its column. */
function withTitles(cells: string, titles: readonly string[]): string {
  let column = cells.startsWith("<th") ? 1 : 0;
  return cells.replaceAll("<td>", () => {
    const title = titles[column++] ?? "";
    return column === 1 || title === "" ? "<td>" : html`<td data-title="${title}">`.markup;
  });
}

/** The text of markup that was made from Markdown. */
export function textOf(markup: string): string {
  return unescaped(markup.replaceAll(/<[^>]+>/g, ""));
}
