/** The stylesheet of `/docs`: system fonts, light and dark, for widths from 320 pixels. */
export const stylesheet = `
:root {
  color-scheme: light dark;
  --paper: #fdfdfc; --raised: #f5f6f6; --ink: #1c2127; --quiet: #59626d; --line: #e2e5e8; --accent: #0b5a86;
  --get: #1c6b3c; --post: #0b5a86; --put: #85520a; --delete: #a6292c; --member: #0b5a86; --string: #1c6b3c; --literal: #8a4b08;
  --mono: ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181b; --raised: #1d2125; --ink: #e3e6e9; --quiet: #a0a9b3; --line: #30363c; --accent: #82c4ee;
    --get: #7fcf9c; --post: #82c4ee; --put: #e6b566; --delete: #f29a97; --member: #8cc8ee; --string: #93d3a8; --literal: #e6b980;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 4.25rem; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 0.2em; }
a:focus-visible, .scroll:focus-visible, pre:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; z-index: 3; padding: 0.5rem 1rem; background: var(--paper); }

.top { position: sticky; top: 0; z-index: 2; display: flex; align-items: baseline; gap: 1.75rem;
  padding: 0.75rem max(1.5rem, calc((100vw - 84rem) / 2 + 1.5rem));
  background: var(--paper); border-bottom: 1px solid var(--line); }
.brand { font-weight: 700; letter-spacing: -0.01em; color: var(--ink); text-decoration: none; }
.top nav { display: flex; gap: 1.25rem; overflow-x: auto; white-space: nowrap; font-size: 0.9375rem; }
.top nav a { color: var(--quiet); text-decoration: none; padding: 0.125rem 0; border-bottom: 2px solid transparent; }
.top nav a:hover { color: var(--ink); }
.top nav a[aria-current] { color: var(--ink); border-color: var(--accent); }

.page { display: grid; grid-template-columns: minmax(0, 1fr); max-width: 84rem; margin: 0 auto; padding: 0 1.5rem; }
.side { font-size: 0.875rem; line-height: 1.45; border-bottom: 1px solid var(--line); padding: 0.75rem 0; overflow-x: auto; white-space: nowrap; }
.side ul { list-style: none; margin: 0; padding: 0; }
.side > ul { display: flex; gap: 1.25rem; }
.side ul ul { display: none; }
.side a { color: var(--quiet); text-decoration: none; }
.side a:hover { color: var(--ink); text-decoration: underline; }
main { min-width: 0; padding: 1.5rem 0 6rem; }

h1, h2, h3, h4 { line-height: 1.25; letter-spacing: -0.015em; text-wrap: balance; }
h1 { font-size: 2.125rem; margin: 1rem 0; }
h2 { font-size: 1.5rem; margin: 4rem 0 0.75rem; }
h3 { font-size: 1.1875rem; margin: 0 0 0.5rem; }
h4 { font-size: 0.8125rem; font-weight: 600; letter-spacing: 0; color: var(--quiet); margin: 1.5rem 0 0.5rem; }
h2 a, h3 a { color: inherit; text-decoration: none; }
h2 a:hover::after, h3 a:hover::after { content: " #"; color: var(--quiet); }
p, main ul, main ol { max-width: 42rem; margin: 0 0 1rem; }
main ul, main ol { padding-left: 1.25rem; }
main li { margin: 0.25rem 0; }
.lead { font-size: 1.125rem; }
.quiet { color: var(--quiet); }

code, pre, .method, .status { font-family: var(--mono); }
code { font-size: 0.875em; overflow-wrap: anywhere; }
p code, li code, td code { background: var(--raised); border-radius: 0.25rem; padding: 0.0625rem 0.25rem; }
td.name code, .address code { background: none; padding: 0; }
figure { margin: 0; min-width: 0; border: 1px solid var(--line); border-radius: 0.5rem; background: var(--raised); overflow: hidden; }
figcaption { padding: 0.375rem 0.875rem; font-size: 0.8125rem; color: var(--quiet); border-bottom: 1px solid var(--line); }
pre code { font-size: inherit; overflow-wrap: normal; }
pre { margin: 0; padding: 0.75rem 0.875rem; overflow-x: auto; font-size: 0.8125rem; line-height: 1.55; tab-size: 2; }
.wrapped pre { white-space: pre-wrap; } .wrapped code { overflow-wrap: anywhere; }
.member { color: var(--member); } .string { color: var(--string); } .literal { color: var(--literal); }
.examples { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.75rem; margin: 1.25rem 0; align-items: start; }

.operation { border-top: 1px solid var(--line); padding: 2rem 0 1rem; }
.brief { padding: 1.25rem 0 0.25rem; }
.address { display: flex; align-items: baseline; gap: 0.625rem; margin: 0 0 0.75rem; max-width: none; }
.method { flex: none; font-size: 0.75rem; font-weight: 700; letter-spacing: 0.02em; line-height: 1.5; padding: 0 0.4375rem;
  border: 1px solid; border-radius: 0.25rem; color: var(--method); }
.get { --method: var(--get); } .post { --method: var(--post); } .put { --method: var(--put); } .delete { --method: var(--delete); }
.status { font-size: 0.8125rem; font-weight: 600; }
.answers { list-style: none; padding: 0 !important; }
.codes { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; list-style: none; padding: 0 !important; max-width: none !important; font-size: 0.9375rem; }
.codes a { text-decoration: none; } .codes a:hover { text-decoration: underline; }
.codes .status { color: var(--quiet); font-weight: 400; margin-right: 0.25rem; }

.scroll { overflow-x: auto; margin: 0 0 1.25rem; }
table { border-collapse: collapse; width: 100%; font-size: 0.875rem; line-height: 1.5; }
th, td { text-align: left; vertical-align: top; padding: 0.4375rem 1.25rem 0.4375rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--quiet); font-size: 0.8125rem; }
td:last-child, th:last-child { padding-right: 0; }
td.name { white-space: nowrap; } td.name .within { color: var(--quiet); }
.type, .required, .limits { white-space: nowrap; } .required { color: var(--quiet); } td.description { min-width: 15rem; }
:target > h2, :target > h3 { color: var(--accent); }

@media (min-width: 62rem) {
  .page { grid-template-columns: 15rem minmax(0, 1fr); gap: 3.5rem; }
  .side { position: sticky; top: 3.25rem; align-self: start; height: calc(100vh - 3.25rem); overflow: auto; white-space: normal; border: 0; padding: 2rem 0; }
  .side > ul { display: block; }
  .side > ul > li { margin-bottom: 1.25rem; }
  .side > ul > li > a { color: var(--ink); font-weight: 600; }
  .side ul ul { display: block; margin-top: 0.375rem; }
  .side ul ul a { display: block; padding: 0.1875rem 0; }
  main { padding-top: 2rem; }
}
@media (min-width: 76rem) { .examples { grid-template-columns: repeat(2, minmax(0, 1fr)); } .examples > :only-child { grid-column: 1 / -1; max-width: 52rem; } }
@media (max-width: 40rem) {
  h1 { font-size: 1.75rem; } .top { gap: 1.25rem; padding: 0.75rem 1rem; } .page { padding: 0 1rem; }
  .address { flex-direction: column; gap: 0.375rem; }
}
@media print { .top, .side { display: none; } }
`;
