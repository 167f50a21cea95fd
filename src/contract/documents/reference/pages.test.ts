import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { closeCodes } from "../../connections/close-codes.ts";
import { frameEvents, frameExchanges } from "../../connections/frame-messages.ts";
import { errorCatalogue } from "../../errors/errors.ts";
import { defaultPayloadLimits } from "../../limits.ts";
import { createOperations } from "../../operations/all.ts";
import { type Operation, operationTags } from "../../operations/operation.ts";
import { guideKinds } from "../guides.ts";
import { html, json, prose } from "./html.ts";
import { reference, referenceInMarkdown } from "./pages.ts";
import { isGuide, pageRoutes } from "./paths.ts";
import { anchorOf } from "./realtime-page.ts";

type Found = { ids: string[]; links: string[]; elements: Set<string>; attributes: Set<string>; text: string };

/** What a page is made of, besides its script, as a browser would read it. */
async function read(page: string): Promise<Found> {
  const found: Found = { ids: [], links: [], elements: new Set(), attributes: new Set(), text: "" };
  const rewriter = new HTMLRewriter().on("*", {
    element(element) {
      found.elements.add(element.tagName);
      for (const [name, value] of element.attributes) {
        found.attributes.add(name ?? "");
        if (name === "id") found.ids.push(value ?? "");
        if (name === "href") found.links.push(value ?? "");
      }
    },
    text(chunk) {
      found.text += chunk.text;
    },
  });
  await rewriter.transform(new Response(page.replace(/<script>.*<\/script>/s, ""))).text();
  return found;
}

/** A text of the contract as `read` finds it. */
const shown = (text: string) => Bun.escapeHTML(text.replaceAll("`", ""));

const folder = new URL("../../../../docs/", import.meta.url).pathname;
const guides = new Map(
  Object.keys(guideKinds).flatMap((kind) =>
    readdirSync(folder + kind)
      .filter((file) => file.endsWith(".md"))
      .map((file) => [`${kind}/${file}`, readFileSync(`${folder}${kind}/${file}`, "utf8")] as const),
  ),
);
const { pages, search } = reference(defaultPayloadLimits, guides);
const markdownPages = referenceInMarkdown(defaultPayloadLimits, guides);
const guideFiles = [...guides.keys()].map((name) => `/docs/${name}`);
const found = new Map(
  await Promise.all(Object.entries(pages).map(async ([path, page]) => [path, await read(page)] as const)),
);
const others = ["/openapi.json", "/asyncapi.json", "/llms.txt"];

describe("/docs", () => {
  test("has a page for each guide, for the HTTP API and each feature, for real time, errors, and each error and close code", () => {
    const codes = Object.values(closeCodes).map(({ code }) => code);
    const ofApi = [...Object.keys(operationTags), "objects"].map((name) => `/docs/api/${name.toLowerCase()}`);
    const ofErrors = Object.keys(errorCatalogue).map((code) => `/docs/errors/${code}`);
    const ofCloseCodes = [...new Set([1006, ...codes])].map((code) => `/docs/close-codes/${code}`);
    const ofGuides = [...guides.keys()].map((name) => `/docs/${name.replace(".md", "")}`);
    expect(Object.keys(pages).sort()).toEqual(
      [
        ...["/docs", "/docs/guides", ...ofGuides, ...ofApi],
        ...["/docs/realtime", "/docs/errors", ...ofErrors, ...ofCloseCodes],
      ].sort(),
    );
    const routes = [...pageRoutes, ...Object.keys(guideKinds).map((kind) => `/docs/${kind}/{page}`)];
    const patterns = routes.map((route) => new RegExp(`^${route.replaceAll(/\{\w+\}/g, "[^/]+")}$`));
    for (const path of Object.keys(pages)) expect(patterns.filter((pattern) => pattern.test(path))).toHaveLength(1);
    for (const path of Object.keys(markdownPages)) expect(patterns.some((pattern) => pattern.test(path))).toBe(true);
  });

  test("has each page in Markdown, but for the guides, whose links lead to others in Markdown", () => {
    const inMarkdown = new Set(Object.keys(markdownPages));
    expect([...inMarkdown].sort()).toEqual(
      Object.keys(pages)
        .filter((path) => !isGuide(path))
        .map((path) => `${path}.md`)
        .sort(),
    );
    const known = new Set([...inMarkdown, ...others, ...guideFiles]);
    for (const [path, markdown] of Object.entries(markdownPages)) {
      const [heading = ""] = /^# .+$/m.exec(markdown) ?? [];
      expect(shown(heading).replace(/^# /, "")).toBe(
        /<h1>(.*?)<\/h1>/.exec(pages[path.replace(".md", "")] ?? "")?.[1]?.replaceAll(/<[^>]+>/g, "") ?? "",
      );
      const prose = markdown.replaceAll(/^```[^`]*^```/gm, "").replaceAll(/`[^`\n]*`/g, "");
      expect(prose).not.toMatch(/<\/?[a-z]+[ >]|%5F/);
      const targets = [...prose.matchAll(/\]\(([^)\s#]*)/g)].flatMap(([, target = ""]) =>
        target === "" || /^[a-z]+:/.test(target) ? [] : [new URL(target, `http://herald${path}`).pathname],
      );
      expect(targets.filter((target) => !known.has(target))).toEqual([]);
    }
    expect(markdownPages["/docs/errors/rate_limited.md"]).toContain(
      "## What to do\n\n- Wait for `Retry-After` seconds",
    );
  });

  test("explains each error and each close code: what it means, why it happens, what to do, and how it looks", () => {
    for (const [code, { status, title }] of Object.entries(errorCatalogue)) {
      const { text = "", ids, links } = found.get(`/docs/errors/${code}`) ?? {};
      expect(text).toContain(shown(title));
      expect(ids).toEqual(expect.arrayContaining(["why", "what-to-do", "example"]));
      expect(text).toMatch(new RegExp(`HTTP/1.1 ${status} |status&quot;: ${status}`));
      expect(text).toContain(`&quot;code&quot;: &quot;${code}&quot;`);
      expect(links).toContain(`/docs/errors#${code}`);
      expect(found.get("/docs/errors")?.links).toContain(`/docs/errors/${code}`);
    }
    for (const [reason, { code, meaning }] of Object.entries(closeCodes)) {
      const { text = "", ids } = found.get(`/docs/close-codes/${code}`) ?? {};
      expect(text).toContain(shown(meaning).slice(1));
      expect(ids).toEqual(expect.arrayContaining([reason, `why-${reason}`, `what-to-do-${reason}`]));
      expect(found.get("/docs/realtime")?.links).toContain(`/docs/close-codes/${code}`);
    }
  });

  test.each(Object.keys(pages))(
    "%s asks for nothing until its reader searches, and has one script, in the page itself",
    (path) => {
      const { elements, attributes } = found.get(path) ?? { elements: new Set(), attributes: new Set() };
      expect(pages[path]?.match(/<script/g)).toHaveLength(1);
      for (const name of ["img", "link", "iframe", "object", "form", "base"]) expect(elements).not.toContain(name);
      for (const name of ["src", "style", "onclick", "onload"]) expect(attributes).not.toContain(name);
      expect(pages[path]).not.toMatch(/@import|url\(/);
    },
  );

  test.each(Object.keys(pages))("%s leads nowhere that does not exist, and uses no id twice", (path) => {
    const { ids = [], links = [] } = found.get(path) ?? {};
    expect(ids).toEqual([...new Set(ids)]);
    const anchors = [...found].flatMap(([page, { ids: ofPage }]) => ofPage.map((id) => `${page}#${id}`));
    const places = new Set([...found.keys(), ...others, ...anchors]);
    const isElsewhere = (target: string) => /^(?:https?|wss?):/.test(target);
    const isMarkdown = (target: string) => target in markdownPages || guideFiles.includes(target);
    const targets = links.map((link) => (link.startsWith("#") ? path + link : link));
    expect(targets.filter((target) => !places.has(target) && !isElsewhere(target) && !isMarkdown(target))).toEqual([]);
    expect(targets).toEqual(expect.arrayContaining(["/docs", "/docs/realtime", "/docs/errors", ...others]));
  });

  test("explains every operation, error, request and event under its own anchor", () => {
    for (const { operationId, tag } of Object.values<Operation>(createOperations(defaultPayloadLimits)))
      expect(found.get(`/docs/api/${tag.toLowerCase()}`)?.ids).toContain(operationId);
    expect(found.get("/docs/errors")?.ids).toEqual(expect.arrayContaining(Object.keys(errorCatalogue)));
    const realtime = found.get("/docs/realtime")?.ids;
    expect(realtime).toEqual(
      expect.arrayContaining([...Object.keys(frameExchanges), ...Object.keys(frameEvents).map(anchorOf)]),
    );
  });

  test("names the operations that return an error on its own page and among all errors", () => {
    const called = (markup = "") => [...markup.matchAll(/href="(\/docs\/api\/\w+#\w+)"/g)].map(([, link]) => link);
    const among = Object.fromEntries(
      (pages["/docs/errors"] ?? "").split('<section class="operation" id="').map((part) => {
        return [part.slice(0, part.indexOf('"')), called(part.slice(0, part.indexOf("</section>")))] as const;
      }),
    );
    expect(among.unauthorized?.length).toBeGreaterThan(50);
    for (const code of Object.keys(errorCatalogue))
      expect([code, called(pages[`/docs/errors/${code}`])]).toEqual([code, among[code] ?? []]);
  });

  test("leads on from the anchors of operations and objects, which were once on the first page", () => {
    const { ids = [], links = [] } = found.get("/docs") ?? {};
    const moved = Object.values<Operation>(createOperations(defaultPayloadLimits)).map(
      ({ operationId, tag }) => [operationId, `/docs/api/${tag.toLowerCase()}#${operationId}`] as const,
    );
    const objects = (found.get("/docs/api/objects")?.ids ?? []).filter((id) => /^[A-Z]/.test(id));
    expect(objects.length).toBeGreaterThan(20);
    for (const [id, link] of [...moved, ...objects.map((id) => [id, `/docs/api/objects#${id}`] as const)]) {
      expect(ids).toContain(id);
      expect(links).toContain(link);
    }
  });

  test("shows the limits of the server that serves it", async () => {
    const { pages: page } = reference({
      ...defaultPayloadLimits,
      bodyCharacters: 4711,
      attachments: Number.POSITIVE_INFINITY,
    });
    expect(page["/docs/api/messages"]).toContain("at most 4,711 characters");
    for (const text of Object.values(page)) expect(text).not.toMatch(/Infinity|∞/);
  });

  test.each(Object.keys(pages).filter((path) => !isGuide(path)))(
    "%s holds no value that JavaScript wrote by mistake",
    (path) => {
      expect(found.get(path)?.text).not.toMatch(/undefined|\[object|NaN|\$\{/);
    },
  );
});

describe("what readers search", () => {
  const parts = search.flatMap(([path, title, ofPage]) =>
    ofPage.map(([anchor, heading, text]) => ({ path, title, anchor, heading, text })),
  );
  const part = (path: string, anchor = "") => parts.find((one) => one.path === path && one.anchor === anchor);

  test("leads to parts that are there, of pages that are there, and says each once", () => {
    for (const { path, anchor, heading } of parts) {
      const page = path === "" ? "/docs" : `/docs/${path}`;
      expect([page, pages[page] !== undefined]).toEqual([page, true]);
      if (anchor !== "") expect(found.get(page)?.ids).toContain(anchor);
      expect(heading).not.toBe("");
    }
    const places = parts.map(({ path, anchor }) => `${path}#${anchor}`);
    expect(places).toEqual([...new Set(places)]);
  });

  test("are guides, operations, errors, close codes and settings", () => {
    const guided = part("how-to/receive", "get-a-token");
    expect(guided).toMatchObject({ title: "Receive", heading: "Get a token" });
    expect(guided?.text).toContain(
      'curl -s -X POST $HERALD/admin/organizations/demo/users/bob/tokens -H "Admin-Api-Key:',
    );
    for (const { operationId, tag, method, path } of Object.values<Operation>(createOperations(defaultPayloadLimits)))
      expect(part(`api/${tag.toLowerCase()}`, operationId)?.text).toStartWith(`${method.toUpperCase()} ${path}`);
    for (const code of Object.keys(errorCatalogue)) expect(part(`errors/${code}`)?.title).toBe(code);
    for (const { code } of Object.values(closeCodes)) expect(part(`close-codes/${code}`)).toBeDefined();
    expect(part("reference/settings", "HERALD_TRUSTED_PROXIES")?.text).toContain("HERALD_TRUSTED_PROXIES");
  });

  test("are at most 750 kB", () => {
    expect(JSON.stringify(search).length).toBeLessThan(750_000);
  });
});

describe("HTML", () => {
  test("escapes what is put into it, and not what is HTML", () => {
    const hostile = `<script>"&'`;
    expect(html`<p title="${hostile}">${[hostile, html`<b>${1}</b>`, undefined]}</p>`.markup).toBe(
      '<p title="&lt;script&gt;&quot;&amp;&#x27;">&lt;script&gt;&quot;&amp;&#x27;<b>1</b></p>',
    );
  });

  test("makes links of what stands in brackets", () => {
    expect(prose("see [the `a` & b](/docs) and `c`").markup).toBe(
      'see <a href="/docs">the `a` &amp; b</a> and <code>c</code>',
    );
  });

  test("makes code of what stands in backticks", () => {
    expect(prose("send `<id>` & go").markup).toBe("send <code>&lt;id&gt;</code> &amp; go");
  });

  test("shows JSON as it is, in colours", async () => {
    const value = { 'a":<b>': ['x: \\ "y"', -1.5e-7, true, null, {}], n: 12 };
    const { markup } = json(value);
    expect(markup).toContain('<span class="literal">true</span>');
    const text = markup
      .replaceAll(/<[^>]+>/g, "")
      .replaceAll("&quot;", '"')
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">");
    expect(JSON.parse(text)).toEqual(value);
  });
});
