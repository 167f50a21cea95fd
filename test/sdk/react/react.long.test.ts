import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { findChromium, launchChromium } from "../../console/browser.ts";
import { type SpoiltLine, startSpoiltLine } from "../../harness/clients/spoilt-line.ts";
import { eventually } from "../../harness/deadline.ts";
import { startHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

setDefaultTimeout(120_000);

/** Serves the page of the tests at an origin of its own. */
async function servePage() {
  const built = await Bun.build({
    entrypoints: [`${import.meta.dir}/page.tsx`],
    target: "browser",
    define: { "process.env.NODE_ENV": '"development"' },
  });
  const script = (await built.outputs[0]?.text()) ?? "";
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) =>
      new URL(url).pathname === "/page.js"
        ? new Response(script, { headers: { "Content-Type": "text/javascript" } })
        : new Response('<!doctype html><title>A page</title><body><script type="module" src="/page.js"></script>', {
            headers: { "Content-Type": "text/html" },
          }),
  });
}

const chromium = findChromium();
describe.if(chromium !== undefined)("the hooks in Chromium, in StrictMode, from another origin", () => {
  let browser: Browser;
  let pages: Awaited<ReturnType<typeof servePage>>;
  beforeAll(async () => {
    [browser, pages] = await Promise.all([launchChromium(chromium ?? ""), servePage()]);
  });
  afterAll(async () => {
    await browser.close();
    await pages.stop(true);
  });

  async function open(allowed: string) {
    const herald = await startHerald({ env: { HERALD_ALLOWED_ORIGINS: allowed } });
    const org = await createOrganization(herald);
    const cid = await org.conversation(["alice", "bob"]);
    const line = await startSpoiltLine(Number(new URL(herald.url).port));
    const context = await browser.newContext();
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(String(error)));
    const given = new URLSearchParams({ url: `http://127.0.0.1:${line.port}`, token: await org.token("bob"), cid });
    await page.goto(`${pages.url.origin}/#${given}`);
    return {
      herald,
      org,
      cid,
      line,
      context,
      page,
      complaints,
      async [Symbol.asyncDispose]() {
        await context.close();
        line.stop();
        await herald.stop();
      },
    };
  }

  const shows = (page: Page, id: string, text: string) =>
    page.waitForFunction(
      ([name, expected]) => document.getElementById(name ?? "")?.innerText.trim() === expected,
      [id, text],
    );
  const threadShows = (page: Page, ...bodies: string[]) => shows(page, "thread", bodies.join("\n"));

  const renderedIn = (page: Page, body: string) =>
    page.evaluate((text) => (globalThis as { rendered?: Record<string, number> }).rendered?.[text], body);

  async function reconnect(line: SpoiltLine) {
    line.cut();
    await line.mend();
  }

  test("messages, edits, recalls, unread counts and notices are shown, and reconnects lose nothing", async () => {
    await using app = await open(pages.url.origin);
    const { org, cid, page, line } = app;
    const send = async (body: string) => (await org.sent("alice", { cid, body })).server_mid;
    await shows(page, "connection", "connected");
    const first = await send("one");
    const second = await send("two");
    await threadShows(page, "one", "two");
    await shows(page, "unread", "2");
    await shows(page, "list", `${cid}: 2`);
    await org.edited("alice", { id: second, body: "two, edited" });
    await threadShows(page, "one", "two, edited (edited)");
    await org.recalled("alice", cid, first);
    await threadShows(page, "two, edited (edited)");
    await org.sentSystem("alice", { uids: ["bob"], x: { text: "a notice" } });
    await shows(page, "notices", "a notice");

    await reconnect(line);
    await send("three");
    await threadShows(page, "two, edited (edited)", "three");
    await shows(page, "connection", "connected");

    await page.getByRole("button", { name: "Toggle" }).click();
    await page.locator("#thread").waitFor({ state: "detached" });
    await send("four");
    await page.getByRole("button", { name: "Toggle" }).click();
    await threadShows(page, "two, edited (edited)", "three", "four");
    expect(app.complaints).toEqual([]);
  });

  test("a message that grows is shown as it does, and only its own entry is rendered again", async () => {
    await using app = await open(pages.url.origin);
    const { org, cid, page, line } = app;
    await page.locator("#thread[aria-busy=false]").waitFor({ state: "attached" }); // or what is read renders "one" again
    await org.sent("alice", { cid, body: "one" });
    const { server_mid: id } = await org.sent("alice", { cid, body: "two", open: true });
    await threadShows(page, "one", "two …");
    await shows(page, "unread", "1");
    const before = await renderedIn(page, "one");
    await org.appended("alice", { id, offset: 3, text: " and" });
    await threadShows(page, "one", "two and …");
    line.cut();
    await org.appended("alice", { id, offset: 7, text: " a" });
    await line.mend();
    await threadShows(page, "one", "two and a …");
    await org.appended("alice", { id, offset: 9, text: " half", done: true });
    await threadShows(page, "one", "two and a half");
    await shows(page, "unread", "2");
    expect(await renderedIn(page, "one")).toBe(before);
    expect(await renderedIn(page, "two and a half")).toBeGreaterThan(0);
    expect(app.complaints).toEqual([]);
  });

  test("an inbox has what was sent while the page was away, and two tabs agree on what is seen and read", async () => {
    await using app = await open(pages.url.origin);
    const { org, page, line, context } = app;
    await shows(page, "inbox", "0:");
    line.cut();
    await org.sentSystem("alice", { id: "a", uids: ["bob"], keep_days: 7 });
    await org.sentSystem("alice", { id: "b", everyone: true, keep_days: 7 });
    await line.mend();
    await shows(page, "inbox", "2: b new a new");
    const other = await context.newPage();
    await other.goto(page.url());
    await shows(other, "inbox", "2: b new a new");
    await other.getByRole("button", { name: "See all" }).click();
    for (const tab of [page, other]) await shows(tab, "inbox", "2: b seen a seen");
    await page.getByRole("button", { name: "Read a" }).click();
    for (const tab of [page, other]) await shows(tab, "inbox", "1: b seen a read");
    await org.recalledSystem("alice", "b");
    for (const tab of [page, other]) await shows(tab, "inbox", "0: a read");
    expect(app.complaints).toEqual([]);
  });

  test("history is read in pages", async () => {
    await using app = await open(pages.url.origin);
    const { org, cid, page } = app;
    await shows(page, "connection", "connected");
    await page.getByRole("button", { name: "Toggle" }).click();
    for (let index = 0; index < 60; index += 1) await org.sent("alice", { cid, body: `m${index}` });
    await page.getByRole("button", { name: "Toggle" }).click();
    const bodies = Array.from({ length: 60 }, (_, index) => `m${index}`);
    await threadShows(page, ...bodies.slice(10));
    await page.getByRole("button", { name: "Older" }).click();
    await threadShows(page, ...bodies);
    await page.getByRole("button", { name: "Older" }).waitFor({ state: "detached" });
    expect(app.complaints).toEqual([]);
  });

  test("a page that goes offline says so within 5 s, and shows what it missed when it is back", async () => {
    await using app = await open(pages.url.origin);
    const { org, cid, page, context } = app;
    await shows(page, "connection", "connected");
    await org.sent("alice", { cid, body: "before" });
    await threadShows(page, "before");
    const wentAt = performance.now();
    await context.setOffline(true);
    await page.waitForFunction(() => document.getElementById("connection")?.innerText.startsWith("offline"));
    expect(performance.now() - wentAt).toBeLessThan(5_000);
    await org.sent("alice", { cid, body: "meanwhile" });
    await context.setOffline(false);
    await threadShows(page, "before", "meanwhile");
  });

  test("a page of an origin that is not allowed says which setting is missing, and stays away", async () => {
    await using app = await open("https://app.example.org");
    const reason = `the page's origin ${pages.url.origin} is not in HERALD_ALLOWED_ORIGINS`;
    await shows(app.page, "connection", `closed 4403 ${reason}`);
    await eventually(() => app.herald.logs().includes("origin_forbidden") || undefined, "the log to name the refusal");
  });
});
