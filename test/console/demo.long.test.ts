import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { freePort } from "../harness/engines/free-port.ts";
import { startHerald, useHerald } from "../harness/servers/herald.ts";
import { createKey } from "../harness/servers/keys.ts";
import { findChromium, launchChromium, screens, type Visit, visit } from "./browser.ts";
import { shoot } from "./screenshots.ts";

const chromium = findChromium();
const herald = useHerald({ oneNode: "what one page shows of one node", env: { HERALD_DEMO: "1" } });

/** What one of the users sees and can do. */
function personOf({ page }: Visit, name: string) {
  const region = page.getByRole("region", { name });
  return {
    sees: (text: string | RegExp) => region.getByText(text).last().waitFor(),
    is: (standing: string | RegExp) => region.getByRole("status").filter({ hasText: standing }).waitFor(),
    shown: () => region.locator(".entry .body").allInnerTexts(),
    press: (button: string) => region.getByRole("button", { name: button }).click(),
    keeps: () => region.getByLabel("Keep it for those who are offline").check(),
    hasUnread: (count: number) => region.getByRole("button", { name: `Inbox of ${name}, ${count} unread` }).waitFor(),
    inbox: region.getByRole("list", { name: `Inbox of ${name}` }).getByRole("listitem"),
    async write(text: string) {
      await page.getByLabel(`Message as ${name}`).fill(text);
      await page.keyboard.press("Enter");
    },
  };
}

type People = Record<"Alice" | "Bob" | "Carol", ReturnType<typeof personOf>>;

const names = ["Alice", "Bob", "Carol"];

async function openDemo(visited: Visit, key: string): Promise<Record<string, ReturnType<typeof personOf>>> {
  await visited.page.getByLabel("Admin API key").fill(key);
  await visited.page.keyboard.press("Enter");
  const people = Object.fromEntries(names.map((name) => [name, personOf(visited, name)]));
  for (const person of Object.values(people)) await person.is("online");
  return people;
}

describe.if(chromium !== undefined)("the demo page in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  test.each(screens)("shows a message arrive, a user leave and return, and a system message: %j", async (screen) => {
    await using server = await startHerald({ env: { HERALD_DEMO: "1" } });
    await using demo = await visit(browser, server, { ...screen, path: "/console/demo" });
    const { page } = demo;
    await demo.expectAccessible("the question for the key");
    await shoot(page, "demo-sign-in", screen);
    const { Alice, Bob, Carol } = await openDemo(demo, server.key);
    await Alice?.write("Hello, both of you!");
    for (const person of [Alice, Bob, Carol]) await person?.sees("Hello, both of you!");
    await Bob?.press("Go offline");
    await Bob?.is("offline");
    await Carol?.write("Where is Bob?");
    await Alice?.sees("Where is Bob?");
    await Alice?.press("Send a system message to Bob and Carol");
    await Carol?.sees(/^system message$/); // and not what a button says
    expect(await Bob?.shown()).not.toContain("Where is Bob?");
    await Bob?.press("Go online");
    await Bob?.is("online");
    await Bob?.sees("Where is Bob?");
    await Bob?.sees("sent while away");
    expect((await Bob?.shown())?.filter((body) => body === "Where is Bob?")).toHaveLength(1);
    expect((await Bob?.shown())?.at(-1)).toBe("Where is Bob?"); // and no system message
    await Carol?.press("Send one to everyone");
    await Alice?.sees(/^system message$/);
    await demo.expectAccessible("the demo");
    await shoot(page, "demo", screen);
    await page.getByLabel("Show the received JSON").check();
    await Bob?.sees('"created_at"');
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
    await page.reload();
    for (const person of [Alice, Bob, Carol]) await person?.sees("Where is Bob?"); // the key is kept in the tab
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Admin API key").waitFor();
    expect(await page.evaluate(() => JSON.stringify(sessionStorage) + location.href)).not.toContain(server.key);
    await server.stop();
  });

  test("a user who leaves before the history has arrived is told, too, what was sent while away", async () => {
    await using server = await startHerald({ env: { HERALD_DEMO: "1" } });
    await using demo = await visit(browser, server, { path: "/console/demo" });
    let listed = 0;
    await demo.page.routeWebSocket(/\/ws$/, (socket) => {
      const upstream = socket.connectToServer();
      upstream.onMessage((frame) => {
        const isHistory = frame.includes('"messages":');
        if (isHistory) listed += 1;
        if (!isHistory || listed > names.length) socket.send(frame);
      });
    });
    const { Alice, Bob } = (await openDemo(demo, server.key)) as People;
    await Alice.write("Hello, Bob!");
    await Bob.sees("Hello, Bob!");
    await Bob.press("Go offline");
    await Bob.is("offline");
    await Alice.write("Where is Bob?");
    await Alice.sees("Where is Bob?");
    await Bob.press("Go online");
    await Bob.sees("Where is Bob?");
    await Bob.sees("sent while away");
    expect(await Bob.shown()).toEqual(["Hello, Bob!", "Where is Bob?"]);
    await server.stop();
  });

  test.each(screens)("a kept system message waits for a user, behind a bell: %j", async (screen) => {
    await using server = await startHerald({ env: { HERALD_DEMO: "1" } });
    await using demo = await visit(browser, server, { ...screen, path: "/console/demo" });
    const { page } = demo;
    const { Alice, Bob, Carol } = (await openDemo(demo, server.key)) as People;
    await Bob.press("Inbox of Bob");
    await Bob.sees("The inbox is empty.");
    await Bob.press("Inbox of Bob");
    await Alice.write("Hello, both of you!");
    await Bob.sees("Hello, both of you!");
    await Bob.press("Go offline");
    await Bob.is("offline");
    await Alice.press("Send a system message to Bob and Carol");
    await Carol.sees(/^system message$/);
    await Alice.keeps();
    await Alice.press("Send a system message to Bob and Carol");
    await Carol.hasUnread(1);
    await Alice.press("Send one to everyone");
    await Alice.hasUnread(1);
    await Bob.hasUnread(0);
    await Bob.press("Go online");
    await Bob.hasUnread(2);
    await page.getByRole("region", { name: "Bob" }).getByText("sent while away").nth(1).waitFor();
    expect(await Bob.shown()).toHaveLength(3); // and not the one that is not kept

    await Bob.press("Inbox of Bob");
    await Bob.inbox.getByText("seen").nth(1).waitFor();
    await Bob.hasUnread(2);
    await demo.expectAccessible("the inbox of the demo");
    await shoot(page, "demo-inbox", screen);
    await Bob.inbox.first().getByRole("button", { name: "Mark as read" }).click();
    await Bob.hasUnread(1);
    await page.locator("ol:focus").waitFor(); // what was pressed is gone
    await Bob.inbox.first().getByText("read", { exact: true }).waitFor();
    await Bob.press("Mark all as read");
    await Bob.hasUnread(0);
    await Bob.press("Go offline");
    await Bob.is("offline");
    expect(await page.getByRole("button", { name: "Mark as read" }).count()).toBe(0);
    await page.reload();
    await Bob.hasUnread(0);
    await Carol.hasUnread(2);
    await server.stop();
  });

  test.each(screens)("an answer streams into each window, and one who was away has all of it: %j", async (screen) => {
    await using server = await startHerald({ env: { HERALD_DEMO: "1" } });
    await using demo = await visit(browser, server, { ...screen, path: "/console/demo" });
    const { page } = demo;
    const { Alice, Bob, Carol } = (await openDemo(demo, server.key)) as People;
    const answerOf = (name: string) => page.getByRole("region", { name }).locator(".entry").nth(1);
    const assistant = await holdAssistant(page);
    await page.getByLabel("Message as Alice").fill("Do you stream?");
    await Alice.press("Ask the assistant");
    await Carol.sees("Do you stream?");
    await Carol.sees("Assistant is typing");
    assistant.begins();
    for (const name of names) await answerOf(name).getByText("I am no model").waitFor();
    expect(await page.getByText("is typing").count()).toBe(0);
    expect(await answerOf("Carol").getAttribute("aria-busy")).toBe("true");
    await answerOf("Carol").getByText("being written").waitFor();
    await Bob.press("Go offline");
    await Bob.is("offline");
    assistant.goesOn();
    await answerOf("Carol").getByText("Each is stored").waitFor();
    await demo.expectAccessible("an answer that is being written");
    await shoot(page, "demo-answer", screen);
    await answerOf("Carol").getByText("being written").waitFor({ state: "detached" });
    expect(await answerOf("Carol").getAttribute("aria-busy")).toBeNull();
    const [, whole = ""] = await Carol.shown();
    expect(whole).toEndWith("with admin.pipe().");
    expect((await Bob.shown())[1]).not.toBe(whole);
    await Bob.press("Go online");
    await answerOf("Bob").getByText("being written").waitFor({ state: "detached" });
    expect(await Promise.all([Alice.shown(), Bob.shown()])).toEqual([
      ["Do you stream?", whole],
      ["Do you stream?", whole],
    ]);
    expect(
      await page
        .getByRole("log")
        .evaluateAll((logs) => logs.map((log) => log.scrollHeight - log.scrollTop - log.clientHeight)),
    ).toEqual([0, 0, 0]);
    await page.reload();
    await Carol.sees("with admin.pipe().");
    expect(await page.getByRole("heading", { level: 2 }).allInnerTexts()).toEqual(names);
    await server.stop();
  });

  test("what is taken back leaves the inbox", async () => {
    await using server = await startHerald({ env: { HERALD_DEMO: "1" } });
    await using demo = await visit(browser, server, { path: "/console/demo" });
    const { Bob } = (await openDemo(demo, server.key)) as People;
    const send = (id: string) =>
      server.admin("POST", "/admin/message/system", {
        organizationId: "demo",
        senderId: "alice",
        messageSystem: { id, uids: ["bob"], keep_days: 1, x: { text: id } },
      });
    await send("first");
    await send("second");
    await Bob.hasUnread(2);
    await Bob.press("Inbox of Bob");
    await Bob.inbox.getByText("first").waitFor();
    await server.admin("DELETE", "/admin/message/system", {
      organizationId: "demo",
      senderId: "alice",
      messageSystemDelete: { ids: ["first"] },
    });
    await Bob.hasUnread(1);
    expect(await Bob.inbox.allInnerTexts()).toEqual([expect.stringContaining("second")]);
    await Bob.sees("has taken back this system message");
    await server.stop();
  });

  test("says what to do about a refused key, and accepts one that may do just what the page does", async () => {
    await using demo = await visit(browser, herald(), { path: "/console/demo" });
    await demo.page.getByLabel("Admin API key").fill("nonsense");
    await demo.page.keyboard.press("Enter");
    await demo.sees("Copy the whole line from the file.");
    await demo.expectAccessible("the refusal");
    const scopes = ["directory:read", "directory:write", "message:send", "system:send"];
    const { key } = await createKey(herald(), { scopes, organization: "demo" });
    const { Alice, Carol } = await openDemo(demo, key);
    await Alice?.write("with a small key");
    await Carol?.sees("with a small key");
  });

  test("reconnects to a server that was killed and restarted, and loses nothing typed", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "herald-demo-"));
    const options = { dataDir, env: { HERALD_DEMO: "1", HERALD_PORT: String(freePort()) } };
    try {
      await using first = await startHerald(options);
      await using demo = await visit(browser, first, { path: "/console/demo" });
      const { Alice, Bob, Carol } = await openDemo(demo, first.key);
      await Alice?.write("before");
      await Carol?.sees("before");
      await first.kill();
      for (const person of [Alice, Bob, Carol]) await person?.is(/reconnecting/);
      await Bob?.write("after");
      await Bob?.sees("The server does not respond.");
      expect(await demo.page.getByLabel("Message as Bob").inputValue()).toBe("after");
      await using again = await startHerald(options);
      for (const person of [Alice, Bob, Carol]) await person?.is("online");
      await demo.page.getByLabel("Message as Bob").press("Enter");
      for (const person of [Alice, Bob, Carol]) await person?.sees("after");
      expect(await Carol?.shown()).toEqual(["before", "after"]);
      await again.stop();
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});

/** Lets the assistant type until it `begins` to answer, and say some words until it `goesOn`, however slow the machine. */
async function holdAssistant(page: Page) {
  const [first, rest] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route(/\/admin\/message(\/append)?$/, async (route) => {
    const { senderId, messageAppend } = route.request().postDataJSON();
    if (senderId === "assistant") await first.promise;
    if (messageAppend?.offset > "I am no model".length) await rest.promise;
    await route.continue();
  });
  return { begins: first.resolve, goesOn: rest.resolve };
}
