/** HTML that is safe to put into a page. Only this file creates it. */
export type Html = { readonly markup: string };

type Value = Html | string | number | undefined | readonly Value[];

/** An HTML template. Escapes values, unless they are HTML already, and omits `undefined`. */
export function html(strings: TemplateStringsArray, ...values: Value[]): Html {
  return { markup: strings.map((string, index) => string + toMarkup(values[index])).join("") };
}

/** Marks markup as safe. Only for markup that is part of Herald, such as the stylesheet. */
export function trusted(markup: string): Html {
  return { markup };
}

/** Text with `code` in backticks, as in the contract's descriptions. */
export function prose(text: string): Html {
  return html`${text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

/** Indented JSON with syntax highlighting. */
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
  if (typeof value === "string") return Bun.escapeHTML(value);
  return "markup" in value ? value.markup : value.map(toMarkup).join("");
}
