import { describe, expect, test } from "bun:test";
import { renderMarkdown } from "./markdown.ts";

const render = (markdown: string) => renderMarkdown(markdown, (target) => target);
const fence = (language: string, code: string) => `\`\`\`${language} run\n${code}\n\`\`\`\n`;

describe("a page in Markdown", () => {
  test("is escaped, but for a few tags, and comments are left out", () => {
    const { main } = render('a <b> & "c"<br><kbd>K</kbd> <script>1</script>\n\n<!-- note\n-->\n\n`<i>` [x](y.md "z")');
    expect(main.markup).toBe(
      '<p>a &lt;b&gt; &amp; &quot;c&quot;<br><kbd>K</kbd> &lt;script&gt;1&lt;/script&gt;</p>\n<p><code>&lt;i&gt;</code> <a href="y.md">x</a></p>\n',
    );
  });

  test("has the anchors of GitHub, also of rows that describe something by its name", () => {
    const { main, headings } = render(
      "# It's `x`\n\n## One two\n\n## One two\n\n| Name | Is |\n|--|--|\n| `A_B` | 1 |\n| c | 2 |",
    );
    expect(headings.map(({ id, text, level }) => [id, text, level])).toEqual([
      ["its-x", "It's x", 1],
      ["one-two", "One two", 2],
      ["one-two-1", "One two", 2],
    ]);
    expect(main.markup).toContain('<tr id="A_B"><td><code>A_B</code>');
    expect(main.markup).toContain("<tr><td>c</td>");
  });

  test("names tables by their sections, and the cells of one with sentences by their columns", () => {
    const rows = (cell: string) => `|  | Is \`x\` |\n|--|--|\n| a | ${cell} |\n`;
    const { markup } = render(`## Parts\n\n${rows("1")}\n${rows("A sentence that takes more than a few words.")}`).main;
    expect([...markup.matchAll(/aria-label="([^"]+)"/g)].map(([, label]) => label)).toEqual(["Parts", "Parts, 2"]);
    expect(markup).not.toContain('<th scope="col"></th>');
    expect(markup).toContain("<table><thead>");
    expect(markup).toContain('<tr><th scope="row">a</th><td>1</td>');
    expect(markup).toContain('<tr><th scope="row">a</th><td data-title="Is x">A sentence');
  });

  test("says what is in a block of code", () => {
    const { markup } = render(`${fence("sh", "a")}\n\`\`\`text output\nb\n\`\`\`\n\n\`\`\`text\nc\n\`\`\``).main;
    const captions = [...markup.matchAll(/<figcaption>(\w+)/g)].map(([, caption]) => caption);
    expect(captions).toEqual(["Shell", "Output", "Text"]);
  });

  test("says whether its commands read a key, and whether they call the command line", () => {
    expect(render(fence("sh", "cat data/admin-api-key")).readsKey).toBe(true);
    expect(render(fence("text", "cat data/admin-api-key")).readsKey).toBe(false);
    expect(render(fence("sh", "npx herald nodes"))).toMatchObject({ readsKey: false, usesCli: true });
  });

  test("has tabs where two or more names of languages stand above their blocks", () => {
    const curl = `**curl**\n\n${fence("sh", "one")}\n${fence("text", "answer")}\n`;
    const go = `**Go**\n\n${fence("go", "two")}\n`;
    const { markup } = render(`Before\n\n${curl}${go}**Go** is a language.\n\n${go}`).main;
    expect(markup.match(/class="tabs"/g)).toHaveLength(1);
    expect([...markup.matchAll(/data-language="(\w+)"/g)].map(([, language]) => language)).toEqual(["curl", "Go"]);
    const [, inTabs = ""] = /<div class="tabs">(.*?)<p><strong>Go<\/strong> is a language/s.exec(markup) ?? [];
    expect(inTabs.match(/<figure/g)).toHaveLength(3);
    expect(render(go).main.markup).not.toContain("tabs");
  });
});
