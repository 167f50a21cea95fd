import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { writeDocsSite } from "../../tools/build/docs-site.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { findChromium, launchChromium, type Screen, visit } from "./browser.ts";

setDefaultTimeout(60_000);

const chromium = findChromium();

describe.skipIf(chromium === undefined)("the pages under /docs", () => {
  const herald = useHerald({ oneNode: "each node shows the same pages" });
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  test("fit phones and desktops, and are accessible", async () => {
    const screens: Screen[] = [
      { width: 380, colorScheme: "dark" },
      { width: 1280, colorScheme: "light" },
    ];
    const paths = ["/docs/api/keys", "/docs/api/objects", "/docs/close-codes/4403", "/docs/how-to/mark-as-read"];
    for (const screen of screens) {
      await using docs = await visit(browser, herald(), { ...screen, path: "/docs" });
      for (const path of paths) {
        await docs.page.goto(new URL(path, herald().url).href);
        await docs.expectAccessible(`${path} at ${screen.width}`);
      }
      await docs.page.getByRole("combobox", { name: "Search the documentation" }).fill("read mark");
      await docs.page.getByRole("option", { name: "Mark as read › Mark a conversation as read" }).waitFor();
      await docs.expectAccessible(`results at ${screen.width}`);
    }
  });

  test("a reader finds guides, operations, errors, close codes and settings with the keyboard", async () => {
    await using docs = await visit(browser, herald(), { path: "/docs/errors" });
    const field = docs.page.getByRole("combobox", { name: "Search the documentation" });
    const results = docs.page.getByRole("listbox", { name: "Results" });
    await field.waitFor();
    const searched = () => docs.requests.filter((url) => url.includes("/docs/search"));
    expect(searched()).toEqual([]);
    const find = async (query: string, heading: string, path: string) => {
      await docs.page.keyboard.press("/");
      await field.fill(query);
      await docs.page.getByRole("option", { selected: true }).filter({ hasText: heading }).waitFor();
      await field.press("Enter");
      await docs.page.waitForURL(`**/docs/${path}`);
    };
    await find("post /admin/message", "Send a message to a conversation", "api/messages#sendMessage");
    await find("conversation_not_found", "conversation_not_found", "errors/conversation_not_found");
    await find("4403", "4403", "close-codes/4403");
    await find("trusted_proxies", "HERALD_TRUSTED_PROXIES", "reference/settings#HERALD_TRUSTED_PROXIES");
    await docs.page.waitForFunction(() => scrollY > 0);
    const scrolled = await docs.page.evaluate(() => scrollY);
    await docs.page.keyboard.press("/");
    await field.fill("mark a conversation as raed"); // sic
    const chosen = results.getByRole("option", { selected: true });
    await chosen.filter({ hasText: "Mark a conversation as read" }).waitFor(); // no key counts before the search has loaded
    await field.press("ArrowDown");
    await field.press("ArrowUp");
    expect(await chosen.textContent()).toContain("Mark a conversation as read");
    expect(await docs.page.evaluate(() => scrollY)).toBe(scrolled);
    await field.press("Escape");
    expect(await results.isVisible()).toBe(false);
    await field.fill("xyzzy");
    await docs.sees("Nothing found for “xyzzy”.");
  });

  test("the same in several languages stands in tabs, and the choice holds on other pages", async () => {
    await using docs = await visit(browser, herald(), { path: "/docs/how-to/mark-as-read" });
    const tab = (name: string) => docs.page.getByRole("tab", { name, exact: true });
    const panel = docs.page.getByRole("tabpanel");
    await tab("curl").click();
    expect(await panel.count()).toBe(1);
    await docs.page.keyboard.press("ArrowLeft"); // from the first to the last
    expect(await tab("Go").getAttribute("aria-selected")).toBe("true");
    expect(await panel.textContent()).toContain("client.MarkRead(ctx, read)");
    await docs.page.keyboard.press("ArrowLeft");
    await docs.page.goto(new URL("/docs/how-to/send-later", herald().url).href);
    expect(await tab("Python").getAttribute("aria-selected")).toBe("true");
    expect(await panel.textContent()).toContain("timedelta(hours=1)");
    await docs.page.goto(new URL("/docs/how-to/push-notifications", herald().url).href);
    await tab("Go").click();
    await docs.page.goto(new URL("/docs/how-to/mark-as-read", herald().url).href);
    expect(await panel.textContent()).toContain("client.MarkRead(ctx, read)");
  });

  test("the reference is folded, and an anchor opens what it names", async () => {
    await using docs = await visit(browser, herald(), { width: 380, path: "/docs/api/messages" });
    const open = docs.page.locator("details[open]");
    for (const [path, most] of [
      ["/docs/api/messages", 4_000],
      ["/docs/api/objects", 7_000],
      ["/docs/realtime", 13_000],
      ["/docs/reference/cli", 20_000],
    ] as const) {
      await docs.page.goto(new URL(path, herald().url).href);
      expect(await open.count()).toBe(0);
      const height = await docs.page.evaluate(() => document.documentElement.scrollHeight);
      expect([path, height]).toEqual([path, Math.min(height, most)]);
    }
    const body = docs.page.getByRole("region", { name: "Body of editMessage" });
    await docs.page.goto(new URL("/docs/api/messages#editMessage", herald().url).href);
    await body.waitFor();
    expect(await open.count()).toBe(1);
    await docs.page.goto(new URL("/docs/api/objects#AuditEntry", herald().url).href);
    await docs.page.getByRole("region", { name: "Members of AuditEntry" }).waitFor();
    expect(await open.count()).toBe(1);
    await docs.page.goto(new URL("/docs/reference/cli#herald-read", herald().url).href);
    await docs.sees("herald read --org demo --from bob --cid welcome");
    expect(await open.count()).toBe(1);
  });

  test("the same pages are shown from files, below any path", async () => {
    const folder = mkdtempSync(join(tmpdir(), "herald-docs-site-"));
    await writeDocsSite(folder, "https://herald.example.org");
    await using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) => new Response(Bun.file(join(folder, new URL(url).pathname.replace("/below/", "/")))),
      error: () => new Response(null, { status: 404 }),
    });
    const site = { url: server.url.href, key: "" };
    await using docs = await visit(browser, site, { path: "/below/docs/how-to/mark-as-read.html" });
    expect(await docs.page.textContent("main")).toContain("HERALD=https://herald.example.org");
    await docs.page.getByRole("main").getByRole("link", { name: "Python" }).click();
    await docs.page.getByRole("heading", { level: 1, name: "Send from Python" }).waitFor();
    await docs.page.getByRole("combobox", { name: "Search the documentation" }).fill("conversation_not_found");
    await docs.page.getByRole("option", { name: "conversation_not_found" }).first().click();
    await docs.page.waitForURL("**/below/docs/errors/conversation_not_found.html");
    await docs.page.getByRole("link", { name: "openapi.json" }).click();
    await docs.page.waitForURL("**/below/openapi.json");
    rmSync(folder, { recursive: true });
  });

  test("a button copies the code of its block", async () => {
    await using docs = await visit(browser, herald(), { path: "/docs/errors/not_found" });
    await docs.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await Promise.all([
      docs.page.getByRole("button", { name: "Copied: Response" }).waitFor(), // awaited before, as it is told for 2 s only
      docs.page.getByRole("button", { name: "Copy: Response" }).click(),
    ]);
    const copied = await docs.page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toStartWith("HTTP/1.1 404 Not Found\n");
    expect(copied).toContain('"code": "not_found"');
  });

  test("anchors of the page that once had all operations lead to where they are now", async () => {
    await using docs = await visit(browser, herald(), { path: "/docs#sendMessage" });
    await docs.page.waitForURL("**/docs/api/messages#sendMessage");
    await docs.page.goto(new URL("/docs#scopes", herald().url).href);
    await docs.page.evaluate(() => {
      location.hash = "AuditEntry";
    });
    await docs.page.waitForURL("**/docs/api/objects#AuditEntry");
  });
});
