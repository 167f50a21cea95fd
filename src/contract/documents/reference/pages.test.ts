import { describe, expect, test } from "bun:test";
import { frameEvents, frameExchanges } from "../../connections/frame-messages.ts";
import { errorCatalogue } from "../../errors/errors.ts";
import { defaultPayloadLimits } from "../../limits.ts";
import { createOperations } from "../../operations/all.ts";
import { html, json, prose } from "./html.ts";
import { pagePaths } from "./layout.ts";
import { referencePages } from "./pages.ts";
import { anchorOf } from "./realtime-page.ts";

type Found = { ids: string[]; links: string[]; elements: Set<string>; attributes: Set<string>; text: string };

/** What a page is made of, as a browser would read it. */
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
  await rewriter.transform(new Response(page)).text();
  return found;
}

const pages = referencePages();
const found = new Map(
  await Promise.all(Object.entries(pages).map(async ([path, page]) => [path, await read(page)] as const)),
);
const others = ["/openapi.json", "/asyncapi.json"];

describe("/docs", () => {
  test("has a page for the HTTP API, one for real time, one for errors", () => {
    expect(Object.keys(pages)).toEqual(["/docs", "/docs/realtime", "/docs/errors"]);
    expect(pagePaths).toEqual(["/docs", "/docs/realtime", "/docs/errors"]);
  });

  test.each(Object.keys(pages))(
    "%s asks for nothing and runs nothing: a policy of `default-src 'none'` breaks nothing",
    (path) => {
      const { elements, attributes } = found.get(path) ?? { elements: new Set(), attributes: new Set() };
      for (const name of ["script", "img", "link", "iframe", "object", "form", "base"])
        expect(elements).not.toContain(name);
      for (const name of ["src", "style", "onclick", "onload"]) expect(attributes).not.toContain(name);
      expect(pages[path]).not.toMatch(/@import|url\(/);
    },
  );

  test.each(Object.keys(pages))("%s leads nowhere that does not exist, and uses no id twice", (path) => {
    const { ids = [], links = [] } = found.get(path) ?? {};
    expect(ids).toEqual([...new Set(ids)]);
    const anchors = [...found].flatMap(([page, { ids: ofPage }]) => ofPage.map((id) => `${page}#${id}`));
    const places = new Set([...found.keys(), ...others, ...anchors]);
    const targets = links.map((link) => (link.startsWith("#") ? path + link : link));
    expect(targets.filter((target) => !places.has(target))).toEqual([]);
    expect(targets).toEqual(expect.arrayContaining([...found.keys(), ...others]));
  });

  test("explains every operation, error, request and event under its own anchor", () => {
    expect(found.get("/docs")?.ids).toEqual(
      expect.arrayContaining(Object.keys(createOperations(defaultPayloadLimits))),
    );
    expect(found.get("/docs/errors")?.ids).toEqual(expect.arrayContaining(Object.keys(errorCatalogue)));
    const realtime = found.get("/docs/realtime")?.ids;
    expect(realtime).toEqual(
      expect.arrayContaining([...Object.keys(frameExchanges), ...Object.keys(frameEvents).map(anchorOf)]),
    );
  });

  test("shows the limits of the server that serves it", async () => {
    const page = referencePages({
      ...defaultPayloadLimits,
      bodyCharacters: 4711,
      attachments: Number.POSITIVE_INFINITY,
    });
    expect(page["/docs"]).toContain("at most 4,711 characters");
    expect(page["/docs"]).not.toContain("Infinity");
    expect(page["/docs"]).not.toContain("∞");
  });

  test.each(Object.keys(pages))("%s holds no value that JavaScript wrote by mistake", (path) => {
    expect(found.get(path)?.text).not.toMatch(/undefined|\[object|NaN|\$\{/);
  });
});

describe("HTML", () => {
  test("escapes what is put into it, and not what is HTML", () => {
    const hostile = `<script>"&'`;
    expect(html`<p title="${hostile}">${[hostile, html`<b>${1}</b>`, undefined]}</p>`.markup).toBe(
      '<p title="&lt;script&gt;&quot;&amp;&#x27;">&lt;script&gt;&quot;&amp;&#x27;<b>1</b></p>',
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
