import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { useHerald } from "../harness/servers/herald.ts";
import { createKey } from "../harness/servers/keys.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { hooksOf, startReceiver } from "../harness/servers/receiver.ts";
import { findChromium, launchChromium, visit } from "./browser.ts";
import { shoot } from "./screenshots.ts";

const chromium = findChromium();
const herald = useHerald({ env: { HERALD_WEBHOOK_ALLOW_PRIVATE: "1" } });

describe.if(chromium !== undefined)("the search of the console, and the page of a message", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  test("with the keyboard alone, an id leads to what happened to the message", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"], "welcome");
    const later = { "Retry-After": "300" }; // the next try does not hide the first, however slow the machine
    using receiver = startReceiver(() => new Response("not today", { status: 500, headers: later }));
    await hooksOf(org).toReceiver("push", receiver);
    using bob = await org.socket("bob");
    const { server_mid } = await org.sent("alice", { cid, body: "Your parcel comes at nine." });
    await bob.next(({ message }) => message?._id === server_mid);
    await org.edited("alice", { id: server_mid, body: "Your parcel comes at ten." });
    await org.hasRead("bob", cid);
    await hooksOf(org).deliveriesWhen("push", ([one]) => one?.tries === 1);

    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    const field = page.getByRole("combobox", { name: "Any id" });
    const options = page.getByRole("listbox", { name: "Results" }).getByRole("option");
    const active = page.getByRole("dialog").getByRole("option", { selected: true });
    await page.getByRole("heading", { level: 1 }).focus();
    await page.keyboard.press("Control+k");
    await page.locator(":focus").and(field).waitFor();
    await page.keyboard.type("WEL");
    await page.getByRole("dialog").getByRole("status").getByText("2 results").waitFor();
    expect(await options.allInnerTexts()).toEqual(["welcome", expect.stringContaining("open the one with this id")]);
    await page.keyboard.press("ArrowUp");
    await active.getByText("open the one").waitFor();
    await page.keyboard.press("ArrowDown");
    await active.getByText("welcome").waitFor();
    expect(await field.getAttribute("aria-activedescendant")).toBe((await active.getAttribute("id")) ?? "");
    await console.expectAccessible("searching");
    await shoot(page, "search", { width: 1280, colorScheme: "light" });
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "welcome" }).waitFor();

    await page
      .locator(":focus")
      .and(page.getByRole("heading", { level: 1 }))
      .waitFor();
    await page.keyboard.press("/");
    await page.locator(":focus").and(field).waitFor();
    await page.keyboard.press("Escape");
    await page
      .locator(":focus")
      .and(page.getByRole("heading", { level: 1 }))
      .waitFor();
    await page.keyboard.press("/");
    await page.locator(":focus").and(field).waitFor();
    await Promise.all([page.keyboard.press("Escape"), page.keyboard.press("/")]); // none waits for the other
    await page.locator(":focus").and(field).waitFor();
    await page.keyboard.insertText(` ${server_mid} `);
    await options.getByText("Your parcel comes at ten.").waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: server_mid }).waitFor();
    const steps = page.getByRole("list", { name: "What happened" }).getByRole("listitem");
    await steps.getByText("try 1").waitFor();
    // The log, the audit log and the webhooks are looked through one beside the other.
    await steps.filter({ hasText: "stored in the log" }).filter({ hasText: "with the bootstrap key" }).waitFor();
    await steps.filter({ hasText: "edited by alice with the bootstrap key" }).waitFor();
    const badges = await steps.locator(".badge").allInnerTexts();
    expect(badges.filter((badge) => badge !== "audit")).toEqual([
      "sent",
      "delivered",
      "edited",
      "read",
      "webhook",
      "webhook",
    ]);
    const told = (await steps.allInnerTexts()).join("\n");
    expect(told).toMatch(/by alice with the bootstrap key · stored in the log at offset \d+/);
    expect(told).toContain("edited by alice with the bootstrap key");
    await page.getByRole("region", { name: "Delivery" }).getByText("1 of 3").waitFor();
    await console.expectAccessible("a message");
    await shoot(page, "message", { width: 1280, colorScheme: "light" });

    const other = await createOrganization(herald());
    await page.reload();
    await console.open("Overview");
    await page.getByLabel("Organization").selectOption(other.id);
    await page.keyboard.press("Control+k");
    await field.fill("carol");
    await options.getByText(`user in ${org.id}`).waitFor();
    await console.expectAccessible("what is found in other organizations");
    await field.fill(server_mid);
    await options.getByText(`in ${org.id}`).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: server_mid }).waitFor();
  });

  test("an action opens a form, and each page shows itself as code", async () => {
    const org = await createOrganization(herald());
    await using console = await visit(browser, herald(), { width: 380, colorScheme: "light" });
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    const dialog = page.getByRole("dialog");
    for (const attempt of ["first", "again"]) {
      await page.getByRole("button", { name: "Search" }).click();
      await page.getByRole("combobox", { name: "Any id" }).fill("new us");
      await page.keyboard.press("Enter");
      await dialog.getByRole("heading", { name: "New user" }).waitFor();
      await dialog.getByLabel("Id").fill(attempt);
      await page.keyboard.press("Enter");
      await console.sees("is created.");
    }
    await page.getByRole("status").getByRole("link", { name: "again" }).click();
    await page.getByRole("heading", { level: 1, name: "again" }).waitFor();
    const open = page.getByRole("button", { name: "Code", exact: true });
    await open.click();
    await dialog.getByText("curl", { exact: true }).waitFor();
    await dialog.getByText("Python", { exact: true }).click();
    await dialog.getByLabel("What it does").selectOption("List the user's inbox");
    const code = dialog.getByRole("region", { name: "List the user's inbox" });
    expect(await code.innerText()).toEndWith(
      `herald = Herald("${herald().url}", os.environ["HERALD_ADMIN_API_KEY"])\n` +
        `for item in herald.inbox("${org.id}", "again"):\n    print(item)\n`,
    );
    await console.expectAccessible("code");
    await shoot(page, "code", { width: 380, colorScheme: "light" });
    await dialog.getByRole("button", { name: "Close" }).click();
    await page.locator(":focus").and(open).waitFor();
    await page.reload();
    await open.click();
    await dialog.getByRole("radio", { name: "Python" }).and(page.locator(":checked")).waitFor({ state: "attached" });
  });

  test("an answer that comes late is not shown, and a secret is sent nowhere", async () => {
    const org = await createOrganization(herald());
    await Promise.all(["alice", "bob"].map((uid) => org.user(uid)));
    const key = await createKey(herald(), { name: "mailer", organization: org.id });
    await using console = await visit(browser, herald(), { width: 380, colorScheme: "dark" });
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    const isAsked = page.waitForRequest(/users\?prefix=bo/);
    await page.route(/users\?prefix=bo/, async (route) => {
      await isReleased;
      await route.continue().catch(() => undefined); // the page has broken it off
    });
    await page.getByRole("button", { name: "Search" }).click();
    const field = page.getByRole("combobox", { name: "Any id" });
    const options = page.getByRole("dialog").getByRole("option");
    await field.fill("bo");
    await isAsked;
    await field.fill("ali");
    await options.getByText("alice").first().waitFor();
    release();
    await field.fill("alice");
    await options.getByText("alice").first().waitFor();
    expect(await options.getByText("bob").count()).toBe(0);
    await console.expectAccessible("the search on a phone");
    await shoot(page, "search", { width: 380, colorScheme: "dark" });
    await field.fill(key.key);
    await options.getByText("mailer").waitFor();
    await options.click();
    await page.getByText("Show all keys").waitFor();
    await page.getByRole("button", { name: "Rotate mailer" }).waitFor();
    const secret = key.key.slice(-30);
    expect(console.requests.filter((address) => address.includes(secret))).toEqual([]);
  });

  test("a key of few scopes finds what it may read, and is told what it does not find", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const { mid } = await org.sentSystem("alice", { id: "notice 1", uids: ["alice"], x: { notice: 1 } });
    const { key } = await createKey(herald(), { organization: org.id, scopes: ["history:read", "message:send"] });
    await using console = await visit(browser, herald(), { colorScheme: "dark" });
    const { page } = console;
    await console.signIn(key);
    await page.keyboard.press("Meta+k");
    const dialog = page.getByRole("dialog");
    await dialog
      .getByText("Your key does not find users, conversations (directory:read); keys (keys:manage)")
      .waitFor();
    expect(await dialog.getByRole("option").allInnerTexts()).toEqual(
      expect.arrayContaining(["Send a message", "Scheduled"]),
    );
    expect(await dialog.getByText("Send a system message").count()).toBe(0);
    await page.keyboard.type(mid);
    await dialog.getByRole("option").click();
    await page.getByRole("heading", { level: 1, name: mid }).waitFor();
    await page.getByText("deliveries of webhooks (webhooks:manage)").waitFor();
    await page.getByRole("list", { name: "What happened" }).getByText("by alice with the bootstrap key").waitFor();
    await console.expectAccessible("a system message");
    await shoot(page, "system-message", { width: 1280, colorScheme: "dark" });
    expect(
      console.requests.filter((address) => /users|conversations|keys|audit|webhooks|events/.test(address)),
    ).toEqual([]);
  });
});
