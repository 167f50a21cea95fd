import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page, Route } from "playwright-core";
import type { Node } from "../../sdk/types.ts";
import { startHerald, useHerald } from "../harness/servers/herald.ts";
import { createKey } from "../harness/servers/keys.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { findChromium, launchChromium, visit } from "./browser.ts";

const chromium = findChromium();
const herald = useHerald();

const tooOld = JSON.stringify({
  type: "/docs/errors#cursor_too_old",
  title: "",
  status: 410,
  detail: "it is too old",
  code: "cursor_too_old",
  request_id: "r",
});

describe.if(chromium !== undefined)("the console does not mislead", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  test("a changed address fills Compose again, with the text as typed, and it is another send", async () => {
    const org = await createOrganization(herald());
    const [first, second] = [await org.conversation(["alice"]), await org.conversation(["alice"])];
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    const go = (query: Record<string, string>) =>
      page.evaluate(
        (hash) => {
          location.hash = hash;
        },
        `#/compose?${new URLSearchParams({ ...query, org: org.id })}`,
      );
    await go({ kind: "message", cid: first, from: "alice" });
    const to = page.getByLabel("To (conversation)");
    await to.waitFor();
    expect(await to.inputValue()).toBe(first);
    await page.getByLabel("Text").fill("hello");
    await page.getByRole("button", { name: "Dry run" }).click();
    const tried = page.getByRole("region", { name: "Dry run" });
    await tried.waitFor();
    await go({ kind: "message", cid: second, from: "alice" });
    await tried.waitFor({ state: "detached" });
    expect([await to.inputValue(), await page.getByLabel("Text").inputValue()]).toEqual([second, "hello"]);
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("region", { name: "Sent" }).waitFor();
    expect([(await org.history(first)).length, (await org.history(second)).length]).toEqual([0, 1]);
    await go({ kind: "system_message", uid: "alice" });
    await page.getByLabel("To (users)").waitFor();
    expect(await page.getByLabel("To (users)").inputValue()).toBe("alice");
    expect(await page.getByLabel("From (user)").inputValue()).toBe("");
  });

  test("Escape does not close a secret that is shown once, not even twice", async () => {
    const { name } = await createKey(herald(), { name: "to rotate" });
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await console.open("Keys");
    await page.getByRole("button", { name: `Rotate ${name}` }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    const secret = page.getByLabel("API key", { exact: true });
    const fresh = await secret.inputValue();
    for (let press = 0; press < 3; press++) await page.keyboard.press("Escape");
    await page.getByRole("alert").getByText("Nobody can see it again").waitFor();
    expect([await secret.isVisible(), await secret.inputValue()]).toEqual([true, fresh]);
    await console.expectAccessible("a secret that stays");
    await page.getByRole("button", { name: "I have saved it" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(fresh);
  });

  test("the secret of a key that ends its own session is shown until it is saved", async () => {
    const { key, name } = await createKey(herald(), { name: "rotates itself", scopes: ["keys:manage"] });
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn(key);
    await console.open("Keys");
    await page.getByRole("button", { name: `Rotate ${name}` }).click();
    await page.getByLabel("The old secret").selectOption("0");
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    expect(await page.getByLabel("API key", { exact: true }).inputValue()).toStartWith("hk_");
    await page.getByRole("button", { name: "I have saved it" }).click();
    await console.sees("The server refuses this key");
  });

  test("a peak says of what it is, and is forgotten after two minutes, whatever page was shown", async () => {
    await using console = await visit(browser, herald());
    const { page } = console;
    await page.clock.install();
    const nodes = await reportSends(page);
    await console.signIn();
    const sends = page.getByRole("figure", { name: "Sends" });
    await nodes.report(180, 2_000);
    await sends.getByText(/^peak 90 per second, last \d+ s$/).waitFor();
    await console.open("Audit");
    await page.clock.fastForward("02:10");
    await nodes.report(6, 130_000);
    await console.open("Overview");
    await nodes.report(6, 2_000);
    await sends.getByText(/^peak 3 per second, last \d+ s$/).waitFor();
    expect(await sends.locator(".figure").innerText()).toBe("3 per second");
  });

  test("what a server that is gone showed last is marked as such on every page, and lists fill when it is back", async () => {
    const server = await startHerald();
    const org = await createOrganization(server);
    await org.user("alice");
    using _alice = await org.socket("alice");
    await using console = await visit(browser, server);
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await page.getByText("live", { exact: true }).waitFor();
    await console.open("Users");
    await page.getByText("online", { exact: true }).waitFor();
    await server.kill();
    await page
      .getByRole("alert")
      .getByText(/is as of \d\d:\d\d:\d\d or earlier/)
      .waitFor();
    await page.getByText("was online", { exact: true }).waitFor();
    expect(await page.getByText("online", { exact: true }).count()).toBe(0);
    await console.expectAccessible("users of a server that is gone");
    await console.open("Conversations");
    await page.getByRole("button", { name: "Try again" }).waitFor();
    await console.expectAccessible("a list of a server that is gone");
    const again = await startHerald({ dataDir: server.dataDir, env: { HERALD_PORT: new URL(server.url).port } });
    await console.sees("No conversations yet"); // without a click
    expect(await page.getByRole("alert").count()).toBe(0);
    await console.open("Overview");
    await page.getByText("live", { exact: true }).waitFor();
    await again.kill();
    await page.getByText("was live", { exact: true }).waitFor();
    const connections = page.getByRole("figure", { name: "Connections" });
    await connections.getByText(/^as of \d\d:\d\d:\d\d$/).waitFor();
    expect(await page.getByText("live", { exact: true }).count()).toBe(0);
    await console.expectAccessible("the overview of a server that is gone");
    await page.setViewportSize({ width: 380, height: 800 });
    await console.expectAccessible("the overview of a server that is gone, on a phone");
  });

  test("a server that takes calls and never answers them is marked, too", async () => {
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.getByText("live", { exact: true }).waitFor();
    await page.route("**/admin/nodes*", () => undefined);
    await page.getByText("was live", { exact: true }).waitFor();
    await console.sees("Herald does not respond");
    await page.unroute("**/admin/nodes*");
    await page.getByText("live", { exact: true }).waitFor();
    expect(await page.getByText("Herald does not respond").count()).toBe(0);
  });

  /** Opens Live on a server of its own, which a test may stop. */
  async function openLive(filter: Record<string, string> = {}) {
    const server = await startHerald();
    const org = await createOrganization(server);
    const cid = await org.conversation(["alice", "bob"]);
    const console = await visit(browser, server, {
      path: `/console#/live?${new URLSearchParams({ ...filter, org: org.id })}`,
    });
    const { page } = console;
    await page.getByLabel("API key", { exact: true }).fill(server.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await console.sees("listening");
    const rows = page.getByRole("region", { name: "Events, newest first" }).getByRole("listitem");
    /** Breaks the feed while a message is sent, and refuses its first call after that, if there is an answer. */
    const breakFor = async (body: string, refusal?: Parameters<Route["fulfill"]>[0]) => {
      await page.route("**/events?**", (route) => route.abort());
      await server.kill();
      await console.sees("connection lost, retrying");
      const again = await startHerald({ dataDir: server.dataDir, env: { HERALD_PORT: new URL(server.url).port } });
      await (await createOrganization(again, org.id)).sent("alice", { cid, body });
      if (refusal !== undefined) await page.route(/events\?.*after=/, (route) => route.fulfill(refusal)); // before a retry gets through
      await page.unroute("**/events?**");
      return again;
    };
    return { console, page, org, cid, rows, breakFor };
  }

  test("Live goes on where its connection was lost, and says so", async () => {
    const { console, page, org, cid, rows, breakFor } = await openLive();
    await using _ = console;
    await org.sent("alice", { cid, body: "before" });
    await rows.getByText("before").waitFor();
    await using again = await breakFor("meanwhile");
    await rows.getByText("meanwhile", { exact: true }).waitFor();
    const [newest, gap, oldest] = await rows.allInnerTexts();
    expect([newest, oldest]).toEqual([expect.stringContaining("meanwhile"), expect.stringContaining("before")]);
    expect(gap).toMatch(/^Connection lost from [\d:]{8} to [\d:]{8}: what came meanwhile follows, nothing is missing$/);
    await console.sees("2 received");
    await console.expectAccessible("Live after a break");
    await page.setViewportSize({ width: 380, height: 800 });
    await console.expectAccessible("Live after a break, on a phone");
    await again.stop();
  });

  test.each([
    ["of a user, whose past the server does not know", { uid: "bob" }, undefined],
    ["whose cursor is too old", {}, { status: 410, contentType: "application/problem+json", body: tooOld }],
  ])("a feed %s says that events may be missing, and goes on", async (_what, filter, refusal) => {
    const { console, page, org, cid, rows, breakFor } = await openLive(filter);
    await using _ = console;
    await using again = await breakFor("meanwhile", refusal);
    await rows.getByText(/^Connection lost .* events may be missing here$/).waitFor();
    await console.sees("listening");
    expect(await page.getByText("meanwhile", { exact: true }).count()).toBe(0);
    await (await createOrganization(again, org.id)).sent("alice", { cid, body: "after" });
    await rows.getByText("after").waitFor();
    await console.expectAccessible("Live after a gap");
    await again.stop();
  });

  test("Live stands still from the choice of a row until it is resumed", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await console.open("Live");
    await console.sees("listening");
    await org.sent("alice", { cid, body: "the first" });
    const rows = page.getByRole("region", { name: "Events, newest first" }).getByRole("listitem");
    await rows.getByText("the first").click();
    await page.getByRole("region", { name: "The chosen event" }).waitFor();
    await page.getByText("paused", { exact: true }).waitFor();
    for (const body of ["the second", "the third"]) await org.sent("alice", { cid, body });
    const resume = page.getByRole("button", { name: "Resume, 2 new" });
    await resume.waitFor();
    expect(await rows.count()).toBe(1);
    await console.expectAccessible("Live, paused by a choice");
    await resume.click();
    await rows.getByText("the third").waitFor();
    expect(await rows.count()).toBe(3);
  });
});

/** Lets a node of the overview report what a test says, in place of what it has done. */
async function reportSends(page: Page) {
  let [sends, reportedAt] = [1_000, Date.now()];
  let told = Promise.withResolvers<void>();
  await page.route("**/admin/nodes*", async (route) => {
    const response = await route.fetch();
    const { items }: { items: Node[] } = await response.json();
    const reported_at = new Date(reportedAt).toISOString();
    const [first] = items.map((node) => ({ ...node, reported_at, figures: { ...node.figures, sends } }));
    await route.fulfill({ response, json: { items: [first] } });
    told.resolve();
  });
  return {
    /** Reports so many more sends within so many milliseconds, once what was reported before is shown. */
    async report(more: number, withinMs: number): Promise<void> {
      await told.promise;
      [sends, reportedAt, told] = [sends + more, reportedAt + withinMs, Promise.withResolvers<void>()];
    },
  };
}
