import { contentSecurityPolicy, hashSource, isolationHeaders } from "./page-headers.ts";

/** A page for a person that says one thing: paragraphs, a list of what is known, and a link to go on. */
export type MessagePage = {
  status: number;
  title: string;
  paragraphs: readonly string[];
  facts?: readonly (readonly [string, string])[];
  link: { text: string; href: string };
};

const style = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 38rem; margin: 10vh auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; }
dt { font-weight: 600; }
dd { margin: 0 0 .5rem; font-family: ui-monospace, monospace; }`;

const headers = {
  ...isolationHeaders,
  "Content-Type": "text/html; charset=utf-8",
  "Cache-Control": "no-store",
  "Content-Security-Policy": contentSecurityPolicy({
    "style-src": hashSource(style),
  }),
};

/** Answers with a page that says one thing. Every text of it is escaped. */
export function answerMessage(
  { status, title, paragraphs, facts = [], link }: MessagePage,
  requestId: string,
): Response {
  const heading = toMarkup(title);
  const known = facts.map(([name, value]) => `<dt>${toMarkup(name)}</dt><dd>${toMarkup(value)}</dd>`).join("");
  const body = [
    `<h1>${heading}</h1>`,
    ...paragraphs.map((text) => `<p>${toMarkup(text)}</p>`),
    known === "" ? "" : `<dl>${known}</dl>`,
    `<p><a href="${toMarkup(link.href)}">${toMarkup(link.text)}</a></p>`,
  ].join("\n");
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${heading} · Herald</title>
<style>${style}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
  return new Response(text, { status, headers: { ...headers, "X-Request-Id": requestId } });
}

function toMarkup(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
