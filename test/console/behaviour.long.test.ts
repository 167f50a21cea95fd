import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { startHerald, useHerald } from "../harness/servers/herald.ts";
import { callWith, createKey } from "../harness/servers/keys.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { findChromium, launchChromium, visit } from "./browser.ts";

const chromium = findChromium();
const herald = useHerald();

describe.if(chromium !== undefined)("the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  test("keeps the key in its tab only: not in a URL, not after signing out, not in another tab", async () => {
    await using console = await visit(browser, herald());
    const { page, requests } = console;
    await console.signIn();
    await page.reload();
    await console.sees("Nodes");
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByLabel("API key").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
    await page.reload();
    await page.getByLabel("API key").waitFor();
    expect(requests.filter((address) => address.includes(herald().key))).toEqual([]);
    expect(
      await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])),
    ).toBe('[{},{},""]');
  });

  test("says what may be wrong with a refused key", async () => {
    await using console = await visit(browser, herald());
    await console.page.getByLabel("API key").fill("hk_not-a-key");
    await console.page.getByRole("button", { name: "Sign in" }).click();
    await console.sees("The server refuses this key");
  });

  test("shows a key of one organization that organization, and the pages that its scopes open", async () => {
    const org = await createOrganization(herald());
    await createOrganization(herald());
    const { key } = await createKey(herald(), { scopes: ["message:send", "observe"], organization: org.id });
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn(key);
    const pages = await page.getByRole("navigation", { name: "Pages" }).getByRole("link").allInnerTexts();
    expect(pages).toEqual(["Overview", "Compose", "Live", "Audit"]);
    await console.sees("Users online");
    await page.getByRole("banner").getByText(org.id).waitFor();
    expect(await page.getByRole("banner").getByRole("combobox").count()).toBe(0);
    await page.goto(`${new URL(herald().url).origin}/console#/users`);
    await console.sees("Your key does not open this page");
    await page.goto(`${new URL(herald().url).origin}/console#/compose`);
    await page.getByLabel("Text").waitFor();
    expect(await page.getByText("System message").count()).toBe(0);
  });

  test("shows an organization's usage beside its own limits, or that it has none", async () => {
    const org = await createOrganization(herald());
    await herald().admin("PUT", org.path(), {
      limits: { connections: 50, messages_per_second: 0, stored_bytes: 2_500_000 },
    });
    using _alice = await org.socket("alice");
    await using console = await visit(browser, herald());
    await console.signIn();
    await console.page.getByLabel("Organization").selectOption(org.id);
    const use = console.page.getByRole("region", { name: `What ${org.id} uses` });
    await use.getByText("1 of 50").waitFor();
    await use.getByText("0 · no limit").waitFor();
    await use.getByText(/\d B of 2.5 MB/).waitFor();
    await use.getByText("· server's limit").waitFor();
  });

  test("points at the line and column of a mistake in x, and does not send", async () => {
    const org = await createOrganization(herald());
    await using console = await visit(browser, herald());
    const { page, requests } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await console.open("Compose");
    await page.getByLabel("x, custom parameters").fill('{\n  "parcel": 7,\n  oops\n}');
    await console.sees("Line 3, column 3: expected a name in double quotes.");
    await page.getByRole("button", { name: "Go to the error" }).click();
    const place = await page.evaluate(() => (document.activeElement as HTMLTextAreaElement).selectionStart);
    expect(place).toBe(19);
    await page.getByRole("button", { name: "Send" }).click();
    await console.sees("Enter the user who sends it.");
    await console.sees("Enter the conversation that it goes to.");
    await console.sees("Enter a text, or attach a file.");
    // The focus moves once the page shows what is wrong.
    await page.waitForFunction(() => document.activeElement?.getAttribute("aria-invalid") === "true");
    expect(requests.filter((address) => address.includes("/admin/message"))).toEqual([]);
  });

  test("shows a refusal with its detail, code and request, and what to do", async () => {
    const org = await createOrganization(herald());
    await org.user("mallory");
    const cid = await org.conversation(["alice"]);
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await console.open("Compose");
    await page.getByLabel("From (user)").fill("mallory");
    await page.getByLabel("To (conversation)").fill(cid);
    await page.getByLabel("Text").fill("hello");
    const answered = page.waitForResponse((response) => response.url().endsWith("/admin/message"));
    await page.getByRole("button", { name: "Send" }).click();
    const requestId = (await answered).headers()["x-request-id"] ?? "";
    const alert = page.getByRole("alert");
    await alert.getByText("The sender is not a participant of the conversation").waitFor();
    for (const text of ["sender_not_participant", requestId]) await alert.getByText(text).waitFor();
  });

  test("retries a send without an answer, and it is delivered once", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await console.open("Compose");
    await page.getByLabel("From (user)").fill("alice");
    await page.getByLabel("To (conversation)").fill(cid);
    await page.getByLabel("Text").fill("once");
    await page.route("**/admin/message", async (route) => {
      await route.fetch(); // the server has it, but its answer is lost
      await route.abort();
    });
    await page.getByRole("button", { name: "Send" }).click();
    await console.sees("The outcome is unknown.");
    await page.unroute("**/admin/message");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("region", { name: "Sent" }).waitFor();
    expect(await org.history(cid)).toHaveLength(1);
  });

  test("does not show the result of a send any more while the next one is under way", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await console.open("Compose");
    await page.getByLabel("From (user)").fill("alice");
    await page.getByLabel("To (conversation)").fill(cid);
    await page.getByLabel("Text").fill("first");
    await page.getByRole("button", { name: "Send" }).click();
    const result = page.getByRole("region", { name: "Sent" });
    await result.waitFor();
    const held = Promise.withResolvers<void>();
    await page.route("**/admin/message", async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.getByLabel("Text").fill("second");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("button", { name: "Sending…" }).waitFor();
    expect(await result.count()).toBe(0);
    held.resolve();
    await result.waitFor();
    expect(await org.history(cid)).toHaveLength(2);
  });

  test("sends a system message, and shows for each user whether they got it", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    await org.user("carol");
    using bob = await org.socket("bob");
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await console.open("Compose");
    await page.getByText("System message", { exact: true }).click();
    await page.getByLabel("From (user)").fill("alice");
    await page.getByLabel("To (users)").fill("bob\ncarol\nnobody");
    await console.sees("One user per line (3 so far).");
    await page.getByRole("button", { name: "Dry run" }).click();
    await console.sees("Not users of the organization: nobody.");
    await page.getByRole("button", { name: "Send" }).click();
    const users = page.getByRole("list", { name: "Each user" }).getByRole("listitem");
    await users.getByText("delivered").waitFor();
    expect(await users.allInnerTexts()).toEqual([
      "bob delivered",
      expect.stringMatching(/^carol offline\nWhy\?/),
      expect.stringMatching(/^nobody unknown\nWhy\?/),
    ]);
    expect((await bob.next()).system_message).toMatchObject({ from: "alice", x: {} });
  });

  test("can be used by keyboard: past the header, from page to page, in and out of a dialog", async () => {
    const org = await createOrganization(herald());
    const { name } = await createKey(herald(), { name: `key of ${org.id}`, organization: org.id });
    await using console = await visit(browser, herald());
    const { page } = console;
    const focuses = (role: "button" | "heading", name: string) =>
      page
        .locator(":focus")
        .and(page.getByRole(role, { name, exact: true }))
        .waitFor();
    const organizations = await holdOrganizations(page);
    await page.locator("input:focus").waitFor();
    await page.keyboard.type(herald().key);
    await page.keyboard.press("Enter");
    await console.sees("Nodes");
    await page.getByRole("link", { name: "Herald" }).focus();
    await page.keyboard.press("Shift+Tab");
    await focuses("button", "Skip to content");
    await page.keyboard.press("Enter");
    await focuses("heading", "Overview");
    organizations.resolve(); // what comes later does not take the focus away
    await page.getByLabel("Organization").getByRole("option", { name: org.id }).waitFor({ state: "attached" });
    await focuses("heading", "Overview");
    await page.getByRole("link", { name: "Keys" }).focus();
    await page.keyboard.press("Enter");
    await focuses("heading", "Keys");
    expect(await page.title()).toBe("Keys · Herald");
    await page.getByRole("button", { name: `Revoke ${name}` }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await focuses("button", `Revoke ${name}`);
  });

  test("shows in Live what matches the filter, and while paused counts what is waiting", async () => {
    const org = await createOrganization(herald());
    const [room, other] = [await org.conversation(["alice"]), await org.conversation(["alice"])];
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await console.open("Live");
    await page.getByLabel("Conversation").fill(room);
    const isFiltered = page.waitForResponse((response) => new URL(response.url()).searchParams.get("cid") === room);
    await page.getByRole("button", { name: "Filter" }).click();
    await isFiltered; // "listening" may still refer to the previous feed
    await console.sees("listening");
    await org.sent("alice", { cid: other, body: "elsewhere" });
    await org.sentSystem("alice", { uids: ["alice"], x: {} });
    await org.sent("alice", { cid: room, body: "here" });
    const rows = page.getByRole("region", { name: "Events, newest first" }).getByRole("listitem");
    await rows.getByText("here").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await org.sent("alice", { cid: room, body: "while paused" });
    const resume = page.getByRole("button", { name: "Resume, 1 new" });
    await resume.waitFor();
    expect(await rows.count()).toBe(1);
    await resume.click();
    await rows.getByText("while paused").waitFor();
    expect(await rows.count()).toBe(2);
    await page.reload();
    await console.sees("listening");
    expect(await page.getByLabel("Conversation").inputValue()).toBe(room);
  });

  test("rotates a key: shows the new secret once, and until when the old one works", async () => {
    const org = await createOrganization(herald());
    const { id, key, name } = await createKey(herald(), { name: `key of ${org.id}` });
    await using console = await visit(browser, herald());
    const { page } = console;
    const organizations = await holdOrganizations(page);
    await console.signIn();
    await console.open("Keys");
    await page.getByRole("button", { name: `Rotate ${name}` }).click();
    await page.getByLabel("The old secret").selectOption("3600");
    organizations.resolve(); // what comes later does not close the dialog
    await page.getByLabel("Organization").getByRole("option", { name: org.id }).waitFor({ state: "attached" });
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    const fresh = await page.getByLabel("API key", { exact: true }).inputValue();
    expect(fresh).toStartWith(`hk_${id}_`);
    expect(fresh).not.toBe(key);
    await console.sees("The previous secret works until");
    for (const one of [key, fresh]) expect((await callWith(herald(), one, "GET", "/admin/keys")).status).toBe(200);
    await page.getByRole("button", { name: "I have saved it" }).click();
    await console.sees("rotating");
    expect(await page.content()).not.toContain(fresh);
  });

  test("a new key says what is missing, and a key that was revoked is shown on demand, as far as the audit log has it", async () => {
    const org = await createOrganization(herald());
    const { id } = await createKey(herald(), { organization: org.id });
    await callWith(herald(), herald().key, "DELETE", `/admin/keys/${id}`);
    await using console = await visit(browser, herald());
    const { page, requests } = console;
    await console.signIn();
    await console.open("Keys");
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByRole("button", { name: "Create the key" }).click();
    await console.sees("Enter what the key is for.");
    await console.sees("Choose at least one scope.");
    await page.locator(":focus").and(page.getByLabel("What the key is for")).waitFor();
    expect(requests.filter((address) => address.endsWith("/admin/keys"))).toEqual([]);
    await page.getByLabel("What the key is for").fill("a test");
    await page.getByRole("checkbox", { name: "directory:read" }).check();
    await page.getByText("Senders and networks").click();
    await page.getByLabel("May be used only from").fill("nowhere");
    await page.getByRole("button", { name: "Create the key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("alert").waitFor();
    expect(await dialog.getByText("must be").count()).toBe(1); // at its field, and not in the notice again
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByLabel("State").selectOption("Revoked");
    const revoked = page.getByRole("table", { name: "Revoked keys" }).getByRole("row");
    await revoked.filter({ hasText: id }).getByText("bootstrap").waitFor();
    await console.expectAccessible("revoked keys");
  });

  test("says that the server is gone, and continues when it is back", async () => {
    const server = await startHerald();
    await using console = await visit(browser, server);
    await console.signIn();
    await console.sees("Nodes");
    await server.kill();
    await console.sees("Herald does not respond");
    const port = new URL(server.url).port;
    await using again = await startHerald({ dataDir: server.dataDir, env: { HERALD_PORT: port } });
    await console.page.getByText("Herald does not respond").waitFor({ state: "detached" });
    await again.stop();
  });

  test("helps if there is no organization yet", async () => {
    await using server = await startHerald();
    await using console = await visit(browser, server);
    const { page } = console;
    await console.signIn();
    await console.open("Live");
    await console.sees("There is no organization yet");
    await page.getByLabel("Id of the new organization").fill("first / one");
    await page.getByRole("button", { name: "Create" }).click();
    await console.sees("listening");
    await console.open("Users");
    await console.sees("No users yet");
    await console.open("Keys");
    await console.sees("No keys yet");
    await server.stop();
  });
});

/** Holds back the list of organizations until it is resolved. */
async function holdOrganizations(page: Page): Promise<PromiseWithResolvers<void>> {
  const held = Promise.withResolvers<void>();
  await page.route(/\/admin\/organizations(\?|$)/, async (route) => {
    await held.promise;
    await route.continue();
  });
  return held;
}
