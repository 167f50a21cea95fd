import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { freePort } from "../harness/engines/free-port.ts";
import { type Herald, startHerald } from "../harness/servers/herald.ts";
import { startOpenId } from "../harness/servers/openid.ts";
import { findChromium, launchChromium, visit } from "./browser.ts";

setDefaultTimeout(120_000);

const chromium = findChromium();
if (chromium !== undefined) {
  const people = {
    alice: { groups: ["admins"], email: "alice@example.org", email_verified: true },
    mallory: { groups: ["strangers"], name: "Mallory" },
  };
  let openid: Awaited<ReturnType<typeof startOpenId>>;
  let herald: Herald;
  let browser: Browser;
  let host = "";
  beforeAll(async () => {
    const port = freePort();
    openid = await startOpenId({ people, herald: [`http://127.0.0.1:${port}`] });
    host = new URL(openid.issuer).host;
    const settings = openid.settings({ groups: { admins: { scopes: ["*"] } } });
    herald = await startHerald({ env: { ...settings, HERALD_PORT: String(port) } });
    await herald.admin("PUT", "/admin/organizations/acme", {});
    await herald.admin("PUT", "/admin/organizations/acme/users/u1", { name: "Uma" });
    browser = await launchChromium(chromium);
  });
  afterAll(async () => {
    await browser.close();
    await herald.stop();
    openid.stop();
  });

  test("a person signs in at the provider, is back on the page asked for, and is not asked again in another tab until signing out", async () => {
    openid.visitor.subject = "alice";
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${herald.url}/console#/users/u1?org=acme`);
    await page.getByRole("button", { name: `Sign in at ${host}` }).click();
    await page.getByRole("heading", { level: 1, name: "u1" }).waitFor();
    expect(page.url()).toBe(`${herald.url}/console#/users/u1?org=acme`);
    await page.getByText("alice@example.org").waitFor();

    // A link that is opened with Ctrl, and one that a colleague has sent.
    const [opened] = await Promise.all([
      context.waitForEvent("page"),
      page
        .getByRole("navigation")
        .getByRole("link", { name: "Users", exact: true })
        .click({ modifiers: ["Control"] }),
    ]);
    await opened.getByRole("heading", { level: 1, name: "Users" }).waitFor();
    const sent = await context.newPage();
    await sent.goto(`${herald.url}/console#/organizations/acme`);
    await sent.getByRole("heading", { level: 1, name: "acme" }).waitFor();

    await opened.getByRole("link", { name: "Conversations", exact: true }).click();
    await opened.getByRole("heading", { level: 1, name: "Conversations" }).waitFor();
    await opened.getByText("No conversations yet").waitFor(); // nothing that it has asked for is left to be refused
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: `Sign in at ${host}` }).waitFor();
    await opened.getByRole("link", { name: "Users", exact: true }).click(); // its session has ended, too
    await opened.getByText("Your session has ended.").waitFor();
    const { body } = await herald.admin<{ items: unknown[] }>("GET", "/admin/sessions");
    expect(body.items).toEqual([]);
    const refused = await herald.admin<{ items: unknown[] }>("GET", "/admin/audit?operation=getOwnKey");
    expect(refused.body.items).toEqual([]); // a browser without a session asks nobody for one
    await context.close();
  });

  test("who manages keys sees who is signed in, and ends a session", async () => {
    openid.visitor.subject = "alice";
    const [theirs, mine] = await Promise.all([browser.newContext(), browser.newContext()]);
    const alice = await theirs.newPage();
    await alice.goto(`${herald.url}/console#/keys`);
    await alice.getByRole("button", { name: `Sign in at ${host}` }).click();
    await alice.getByRole("list", { name: "Signed in" }).getByText("this session").waitFor();
    const page = await mine.newPage();
    await page.goto(`${herald.url}/console#/keys`);
    await page.getByText("Use an API key instead").click();
    await page.getByLabel("API key", { exact: true }).fill(herald.key);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    const signedIn = page.getByRole("list", { name: "Signed in" }).getByRole("listitem");
    expect(await signedIn.innerText()).toContain("alice@example.org");
    await signedIn.getByRole("button", { name: "End" }).click();
    await page.getByRole("button", { name: "End the session" }).click();
    await page.getByText("Nobody is signed in at the OpenID provider.").waitFor();
    await alice.getByRole("link", { name: "Users", exact: true }).click();
    await alice.getByText("Your session has ended.").waitFor();
    await Promise.all([theirs.close(), mine.close()]);
  });

  test("a person without a role reads which claims came; a key still opens the console", async () => {
    openid.visitor.subject = "mallory";
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${herald.url}/console`);
    await page.getByRole("button", { name: `Sign in at ${host}` }).click();
    await page.getByRole("heading", { name: "You have no access to this console" }).waitFor();
    await page.getByText("strangers").waitFor();
    await page.getByRole("link", { name: "Back to the console" }).click();
    await page.getByText("Use an API key instead").click();
    await page.getByLabel("API key", { exact: true }).fill(herald.key);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await context.close();
  });

  test.each([
    { width: 380, colorScheme: "dark" },
    { width: 1280, colorScheme: "light" },
  ] as const)("the page to sign in on is accessible, with a width of $width px in $colorScheme", async (screen) => {
    await using visited = await visit(browser, herald, screen);
    await visited.page.getByRole("button", { name: `Sign in at ${host}` }).waitFor();
    await visited.page.getByText("Use an API key instead").click();
    await visited.expectAccessible("the page to sign in on");
  });
}
