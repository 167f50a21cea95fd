import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Route } from "playwright-core";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { findChromium, launchChromium, visit } from "./browser.ts";

const chromium = findChromium();
const herald = useHerald({ oneNode: "what one page shows of one node", env: { HERALD_DEMO: "1" } });
const calls = "**/admin/**";

const failAs = (status: number, code: string) => (route: Route) =>
  route.fulfill({
    status,
    contentType: "application/problem+json",
    body: JSON.stringify({
      type: `/docs/errors#${code}`,
      title: "",
      status,
      detail: "it is restarting",
      code,
      request_id: "r",
    }),
  });

describe.if(chromium !== undefined)("where calls fail, the pages say what happened and what to do", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  test.each(["/console", "/console/demo"])("%s is not blank when its scripts do not arrive", async (path) => {
    await using visited = await visit(browser, herald(), { path });
    await visited.page.route("**/*.js", (route) => route.abort());
    await visited.page.reload();
    await visited.sees("load the page again");
    await visited.sees("HERALD_BASE_PATH");
    await visited.page.unroute("**/*.js");
    await visited.page.reload();
    await visited.page.getByLabel("API key").waitFor();
    expect(await visited.page.getByText("load the page again").count()).toBe(0);
  });

  test("the console keeps the key of a tab while the server does not respond, and tries again", async () => {
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    for (const fail of [(route: Route) => route.abort(), failAs(503, "unavailable")]) {
      await page.route(calls, fail);
      await page.reload();
      await page.getByRole("alert").getByRole("button", { name: "Try again" }).waitFor();
      await page.unroute(calls);
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    }
    // The page is left first: one of its own calls would be refused, and forget the key, before the page is loaded again.
    const address = page.url();
    await page.goto("about:blank");
    await page.route(calls, failAs(401, "unauthorized"));
    await page.goto(address);
    await console.sees("The server refuses this key. It may be mistyped");
    expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
  });

  test("the demo keeps it, too", async () => {
    await using demo = await visit(browser, herald(), { path: "/console/demo" });
    const { page } = demo;
    await page.getByLabel("Admin API key").fill(herald().key);
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Bob" }).waitFor();
    await page.route(calls, (route) => route.abort());
    await page.reload();
    await demo.sees("The server does not respond.");
    await page.unroute(calls);
    await page.reload();
    await page.getByRole("region", { name: "Bob" }).waitFor();
  });

  test("an answer that is not Herald's is told as such, and links to no explanation that does not exist", async () => {
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.route(calls, (route) => route.fulfill({ status: 404, contentType: "text/html", body: "<h1>No</h1>" }));
    await console.open("Users");
    const alert = page.getByRole("alert");
    await alert.getByText("Something other than Herald answered").waitFor();
    await alert.getByText("Check the proxy between this browser and Herald").waitFor();
    expect(await alert.getByRole("link").count()).toBe(0);
  });

  test("the overview says why it cannot read webhooks of other organizations, and not that nothing is wrong", async () => {
    const org = await createOrganization(herald());
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    const held = Promise.withResolvers<void>();
    const ofOthers = new RegExp(`/organizations/(?!${org.id}/)[^/]+/webhooks`);
    await page.route(ofOthers, async (route) => {
      await held.promise;
      await failAs(503, "unavailable")(route);
    });
    await page.reload();
    await console.sees("Nothing is wrong so far.");
    held.resolve();
    const alert = page.getByRole("alert");
    await alert.getByText("The webhooks of other organizations cannot be read: Herald cannot handle").waitFor();
    await alert.getByText("it is restarting").waitFor();
    expect(await page.getByText("Nothing is wrong").count()).toBe(0);
    await console.expectAccessible("an overview without the webhooks of others");
    await page.unroute(ofOthers);
    const soon = 20_000; // the next look would be later, but the server is back
    await page.getByText("cannot be read").waitFor({ state: "detached", timeout: soon });
    await console.sees("Nothing is wrong.");
  });

  test("the overview shows webhooks that fail while those of a third organization cannot be read", async () => {
    const [org, other, unreadable] = await Promise.all([1, 2, 3].map(() => createOrganization(herald())));
    if (org === undefined || other === undefined || unreadable === undefined) throw new Error("unreachable");
    const now = new Date().toISOString();
    const failing = { since: now, at: now, status: 500, error: "answered with 500" };
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await page.route(`**/organizations/${unreadable.id}/webhooks?*`, failAs(503, "unavailable"));
    await page.route(`**/organizations/${other.id}/webhooks?*`, (route) =>
      route.fulfill({ json: { items: [{ id: "pushes", state: "active", disabled_at: null, failing }], cursor: null } }),
    );
    await page.reload();
    await page.getByRole("alert").getByText("it is restarting").waitFor();
    await page.getByRole("link", { name: `The webhook pushes of ${other.id} fails: answered with 500` }).waitFor();
  });

  test("a list that cannot be read now is said to have changed nothing", async () => {
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.route(calls, failAs(503, "unavailable"));
    await console.open("Users");
    await page.getByRole("alert").getByText("Nothing was changed. Try again in a moment.").waitFor();
    await page.unroute(calls);
    await console.sees("Alice"); // without a click
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  test("a part of the console that cannot be loaded, as after an upgrade, says to load the page again", async () => {
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.route("**/assets/compose-*", (route) => route.abort());
    await console.open("Compose");
    await page.getByRole("alert").getByText("Load the page again: the server may have been upgraded").waitFor();
  });
});
