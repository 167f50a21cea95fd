import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { findChromium, launchChromium } from "../console/browser.ts";
import { eventually } from "../harness/deadline.ts";
import { filesOf } from "../harness/servers/files.ts";
import { startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { allPages, type Block, root } from "./markdown.ts";
import { createWorkspace, writeSnippet } from "./workspace.ts";

setDefaultTimeout(60_000);

const chromium = findChromium();
const exampleUrl = "https://herald.example.org";

/** What the reader of a page has around its blocks, if they need anything. */
const around: Record<string, { before: string; after: string }> = {
  "docs/how-to/react.md": {
    before: `/** @jsxImportSource react */ // here, another one is the default
      import { createRoot } from "react-dom/client";`,
    after: `createRoot(document.body.appendChild(document.createElement("main"))).render(<App />);`,
  },
  "docs/how-to/send-files.md": {
    before: `import { createClient } from "@herald/sdk";
      const attachment = await (await fetch("/attachment")).json();
      const { promise: connected, resolve } = Promise.withResolvers();
      const client = createClient({
        url: "${exampleUrl}",
        token: async () => (await fetch("/token")).text(),
        onStateChange: (state) => state === "connected" && resolve(undefined),
      });
      client.start();
      await connected;`,
    after: "picture.onload = () => console.log('the picture', picture.naturalWidth, 'pixels wide');",
  },
};

const blocks = allPages().flatMap((page) =>
  page.blocks
    .filter(({ how }) => how === "browser")
    .map((block): [string, string, Block] => [`${page.path}:${block.line}`, page.path, block]),
);

/** A block as the script of a page, which shows what the script prints. */
async function bundle(path: string, { language, line, text }: Block, url: string): Promise<string> {
  using workspace = createWorkspace();
  const { before = "", after = "" } = around[path] ?? {};
  const program = [before, text, after].join("\n").replaceAll(exampleUrl, url);
  const entry = writeSnippet(workspace, `browser-${line}.${language}`, program);
  const { outputs, logs } = await Bun.build({ entrypoints: [entry], target: "browser", throw: false });
  const [output] = outputs;
  if (output === undefined) throw new Error(`${path}:${line} cannot be bundled: ${logs.join("\n")}`);
  return await output.text();
}

const html = `<!doctype html><title>A page</title><body></body>
<script>console.log = (...words) => document.body.append(words.join(" "), document.createElement("br"));</script>
<script type="module" src="/page.js"></script>`;

describe.if(chromium !== undefined)("what the documentation shows for a page, in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  test.each(blocks)("%s", async (_place, path, block) => {
    let script = "";
    let token = "";
    let attachment: object = {};
    using site = Bun.serve({
      port: 0,
      routes: {
        "/": () => new Response(html, { headers: { "Content-Type": "text/html" } }),
        "/page.js": () => new Response(script, { headers: { "Content-Type": "text/javascript" } }),
        "/token": () => new Response(token),
        "/herald-token": () => new Response(token),
        "/attachment": () => Response.json(attachment),
      },
    });
    const origin = `http://localhost:${site.port}`;
    await using herald = await startHerald({ env: { HERALD_ALLOWED_ORIGINS: origin } });
    script = await bundle(path, block, herald.url);
    const org = await createOrganization(herald);
    const cid = await org.conversation(["alice", "bob"], "welcome");
    token = await org.token("bob");
    const picture = Bun.file(join(root, "docs/console/live-380-light.png"));
    const { file_id, name, size, content_type } = await filesOf(org).uploaded("picture.png", picture, {
      type: "image/png",
    });
    attachment = { file_id, name, size, content_type };
    await org.sent("alice", { cid, body: "A picture", attachments: [attachment] });

    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(String(error)));
    await page.goto(origin);
    await eventually(async () => {
      const { body } = await herald.admin<{ items: unknown[] }>("GET", org.path("users", "bob", "connections"));
      return body.items.length > 0 || undefined;
    }, "the page to be connected");
    await org.sent("alice", { cid, body: "Hello, page" });
    await page.getByText(block.argument).waitFor();
    await page.close();
    expect(complaints).toEqual([]);
  });
});
