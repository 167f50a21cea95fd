/** HTML that is safe to put into a page. Only this file makes it. */
export type Html = { readonly markup: string };

type Value = Html | string | number | undefined | readonly Value[];

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** A template of HTML: what is put into it is escaped, unless it is HTML already; `undefined` is nothing. */
export function html(strings: TemplateStringsArray, ...values: Value[]): Html {
  return { markup: strings.map((string, index) => string + toMarkup(values[index])).join("") };
}

/** Markup that we wrote ourselves, such as a stylesheet. */
export function trusted(markup: string): Html {
  return { markup };
}

/** Text whose `code` stands in backticks, as the contract's descriptions have it. */
export function prose(text: string): Html {
  return html`${text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

/** JSON, indented, its members and values told apart by colour. */
export function json(value: unknown): Html {
  const text = JSON.stringify(value, undefined, 2);
  const parts: Value[] = [];
  let end = 0;
  for (const match of text.matchAll(/("(?:[^"\\]|\\.)*")(:?)|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g)) {
    const [token, string, colon] = match;
    const kind = string === undefined ? "literal" : colon === ":" ? "member" : "string";
    parts.push(text.slice(end, match.index), html`<span class="${kind}">${string ?? token}</span>`, colon);
    end = match.index + token.length;
  }
  return html`${parts}${text.slice(end)}`;
}

function toMarkup(value: Value): string {
  if (value === undefined) return "";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return value.replace(/[&<>"']/g, (character) => entities[character] ?? character);
  return "markup" in value ? value.markup : value.map(toMarkup).join("");
}
