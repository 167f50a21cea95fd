import type { Explanation } from "../../errors/explanations.ts";
import { type Html, html, prose } from "./html.ts";

/** The sections of an explanation: why it happens, and what to do. With `name`, they are parts of the section of that name. */
export function explained({ causes, remedies }: Explanation, name?: string): Html {
  return html`${listed("why", "Why it happens", causes, name)}
${listed("what-to-do", "What to do", remedies, name)}`;
}

function listed(part: string, heading: string, items: readonly string[], name: string | undefined): Html {
  const list = html`<ul>${items.map((item) => html`<li>${prose(item)}</li>`)}</ul>`;
  if (name === undefined)
    return html`<section id="${part}"><h2><a href="#${part}">${heading}</a></h2>
${list}</section>`;
  const id = `${part}-${name}`;
  return html`<section class="part" id="${id}"><h3><a href="#${id}">${heading}</a></h3>
${list}</section>`;
}
