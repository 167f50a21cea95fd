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

/** The text whose special characters `html` has escaped. */
export function unescaped(text: string): string {
  const characters: Record<string, string> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'", "&amp;": "&" };
  return text.replaceAll(/&(?:lt|gt|quot|#x27|amp);/g, (entity) => characters[entity] ?? entity);
}

/** Text with `code` in backticks and [links](/docs), as in the contract's descriptions. */
export function prose(text: string): Html {
  const parts: Value[] = [];
  let end = 0;
  for (const match of text.matchAll(/`([^`]+)`|\[([^\]]+)\]\(([^)\s]+)\)/g)) {
    const [whole, code, label, target] = match;
    parts.push(text.slice(end, match.index));
    parts.push(code === undefined ? html`<a href="${target}">${label}</a>` : html`<code>${code}</code>`);
    end = match.index + whole.length;
  }
  return html`${parts}${text.slice(end)}`;
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
