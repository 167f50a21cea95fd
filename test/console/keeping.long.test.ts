import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { eventually } from "../harness/deadline.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createKey } from "../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";
import { findChromium, launchChromium, screens, visit } from "./browser.ts";
import { shoot } from "./screenshots.ts";

const chromium = findChromium();
const herald = useHerald();

describe.if(chromium !== undefined)("sends that are kept or expire, in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  /** Opens Compose for an organization, with a sender. */
  async function openCompose(org: Organization, screen = screens[2]) {
    const console = await visit(browser, herald(), screen);
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await console.open("Compose");
    await page.getByLabel("From (user)").fill("alice");
    return { console, page };
  }

  const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
  const inTwoDays = () => new Date(Date.now() + 2 * 24 * 3600_000).toISOString().slice(0, 16);

  test.each(screens)("a system message is kept for days, under a key: %j", async (screen) => {
    const org = await createOrganization(herald());
    await org.user("alice");
    await org.user("carol");
    const { console, page } = await openCompose(org, screen);
    await using _ = console;
    await page.getByText("System message", { exact: true }).click();
    await page.getByLabel("To (users)").fill("carol");
    await console.sees("Only those who are online receive it.");
    expect(await page.getByLabel("Key").count()).toBe(0);
    await page.getByLabel("Keep for (days)").fill("400");
    await console.sees("Those who are offline find it in their inboxes.");
    await page.getByLabel("Key").fill("export 42");
    await press(page, "Send");
    await console.sees("must be a whole number from 1 to 365");
    await page.getByLabel("Keep for (days)").fill("30");
    await page.getByText("Silent and expiry").click();
    await page.getByText("At a time", { exact: true }).click();
    await page.getByLabel("Expires at").fill(inTwoDays());
    await console.expectAccessible("Compose with what is kept");
    await shoot(page, "compose-kept", screen);
    await press(page, "Send");
    await page.getByRole("region", { name: "Sent" }).waitFor();
    const { body } = await herald().admin<{ items: object[] }>("GET", org.path("users", "carol", "system-messages"));
    expect(body.items).toMatchObject([{ from: "alice", key: "export 42", read_at: null }]);
    expect(await page.getByLabel("Keep for (days)").inputValue()).toBe("");
    expect(await page.getByLabel("Expires at").count()).toBe(0);
  });

  test("an expiry is sent as a point in time, and what the server says of it stands at the field", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const { console, page } = await openCompose(org);
    await using _ = console;
    await page.getByLabel("To (conversation)").fill(cid);
    await page.getByLabel("Text").fill("until the day after tomorrow");
    await page.getByText("Silent and expiry").click();
    await page.getByText("At a time", { exact: true }).click();
    await page.getByLabel("Expires at").fill("");
    await press(page, "Send");
    await console.sees("Choose a date and a time.");
    const local = inTwoDays();
    await page.getByLabel("Expires at").fill(local);
    await page.getByText("Silent and expiry").click();
    await page.route("**/admin/message", (route) =>
      route.fulfill({
        status: 422,
        contentType: "application/problem+json",
        json: {
          type: "/docs/errors#invalid_request",
          title: "The request is not valid",
          status: 422,
          code: "invalid_request",
          request_id: "r",
          errors: [{ pointer: "/message/expires_at", detail: "has passed" }],
        },
      }),
    );
    const sent = page.waitForRequest("**/admin/message");
    await press(page, "Send");
    expect((await sent).postDataJSON()).toMatchObject({ message: { expires_at: new Date(local).toISOString() } });
    await page.getByText("has passed", { exact: true }).waitFor();
    expect(await page.getByLabel("Expires at").getAttribute("aria-invalid")).toBe("true");
  });

  test("before it sends to everyone, the console says whom it reaches, and how it is taken back", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const { console, page } = await openCompose(org);
    await using _ = console;
    await page.getByText("System message", { exact: true }).click();
    await page.getByText("Everyone", { exact: true }).click();
    const dialog = page.getByRole("dialog");
    await press(page, "Send");
    await dialog.getByText("who are online when it is sent receive it").waitFor();
    await dialog.getByText("DELETE /admin/message/system").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.getByLabel("Keep for (days)").fill("7");
    await press(page, "Send");
    await dialog.getByText("Those who are offline find it in their inboxes.").waitFor();
  });

  test("Scheduled shows of each send whether it is silent and kept, its key and its expiry", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const { console, page } = await openCompose(org);
    await using _ = console;
    await page.getByText("System message", { exact: true }).click();
    await page.getByLabel("To (users)").fill("alice");
    await page.getByLabel("Keep for (days)").fill("1");
    await page.getByLabel("Key").fill("export 42");
    await page.getByText("Silent and expiry").click();
    await page.getByLabel("Silent").check();
    await page.getByText("At a time", { exact: true }).click();
    await page.getByLabel("Expires at").fill(inTwoDays());
    await page.getByText("Later", { exact: true }).click();
    await press(page, "Schedule");
    await page.getByRole("region", { name: "Scheduled" }).waitFor();
    await console.open("Scheduled");
    await page.getByText(/ · silent · kept for 1 day · key export 42 · expires /).waitFor();
  });

  test("a report says whether the absent get a send, when it was taken back or expired, and what superseded it", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    await org.user("carol");
    const { console, page } = await openCompose(org);
    await using _ = console;
    await page.getByText("System message", { exact: true }).click();
    await page.getByLabel("To (users)").fill("carol");
    await page.getByLabel("Keep for (days)").fill("7");
    await press(page, "Send");
    const mid = await page.getByRole("region", { name: "Sent" }).locator("dd.mono").first().innerText();
    await console.sees("They find it in their inboxes.");
    const report = page.getByRole("region", { name: "Delivery" });
    expect(await report.getByText("Taken back").count()).toBe(0);

    const path = org.path("system-messages", mid);
    const superseded = await herald().admin<object>("GET", path);
    const json = { ...superseded.body, expired_at: "2026-01-01T09:00:00.000Z", superseded_by: "export 43" };
    await page.route(`**${path}?**`, (route) => route.fulfill({ json }));
    await press(page, "Refresh");
    await report.getByText("1 Jan 2026").waitFor();
    await report.getByText("export 43").waitFor();
    await report.getByText("It has expired, so the other users do not receive it.").waitFor();
    await page.unroute(`**${path}?**`);

    await org.recalledSystem("alice", mid);
    await press(page, "Refresh");
    await report.getByText("It was taken back, so the other users do not receive it.").waitFor();
    await report.getByText("Taken back", { exact: true }).waitFor();
    await console.expectAccessible("the report of what was taken back");
  });

  /** Opens the page of a user. */
  async function openUser(org: Organization, uid: string, key?: string, screen = screens[2]) {
    const console = await visit(browser, herald(), screen);
    const { page } = console;
    await console.signIn(key);
    await page.goto(`${new URL(herald().url).origin}/console#/users/${uid}?org=${org.id}`);
    await page.getByRole("heading", { level: 1, name: uid }).waitFor();
    const items = page.getByRole("list", { name: "System messages, newest first" }).getByRole("listitem");
    return { console, page, items };
  }

  test.each(screens)("the page of a user shows the inbox, and what the user has done with it: %j", async (screen) => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"], "parcel news");
    await org.sentSystem("alice", { id: "s-1", uids: ["bob"], keep_days: 7, x: { kind: "payment", amount: "12.50" } });
    await org.sentSystem("alice", { id: "s-2", cid, keep_days: 7, key: "export 42", x: { export: "60 %" } });
    await org.sentSystem("alice", { id: "s-3", uids: ["bob"], keep_days: 7, silent: true, x: { kind: "greeting" } });
    await org.sentSystem("alice", { id: "not kept", uids: ["bob"] });
    using bob = await org.socket("bob");
    await bob.request("system_message_read", { ids: ["s-1"] });
    await bob.request("system_message_read", { ids: ["s-2"], seen: true });
    const { console, items } = await openUser(org, "bob", undefined, screen);
    await using _ = console;
    await items.nth(2).waitFor();
    const shown = (await items.allInnerTexts()).map((text) =>
      text.replaceAll(/\d\d:\d\d:\d\d/g, "…").split(/\s*\n\s*/),
    );
    expect(shown).toEqual([
      ["alice", "…", "unread", "{", '"kind": "greeting"', "}", "s-3 · silent"],
      ["alice", "…", "seen …", "{", '"export": "60 %"', "}", `s-2 · to ${cid} · key export 42`],
      ["alice", "…", "read …", "{", '"kind": "payment",', '"amount": "12.50"', "}", "s-1"],
    ]);
    await console.expectAccessible("the page of a user with an inbox");
    await shoot(console.page, "user-inbox", screen);
  });

  test("a long inbox is read in pages, and an empty one says how to fill it", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    await org.user("bob");
    const { console, page, items } = await openUser(org, "bob");
    await using _ = console;
    await console.sees("The inbox is empty");
    await console.expectAccessible("the page of a user with an empty inbox");
    await Promise.all(
      Array.from({ length: 51 }, (_, index) =>
        org.sentSystem("alice", { id: `s-${index}`, uids: ["bob"], keep_days: 1 }),
      ),
    );
    await page.getByRole("region", { name: "Inbox" }).getByRole("button", { name: "Refresh" }).click();
    await items.first().waitFor();
    expect(await items.count()).toBeLessThan(50); // only what is on the screen is rendered
    await press(page, "Show more");
    await page.getByRole("button", { name: "Show more" }).waitFor({ state: "detached" });
    await eventually(async () => {
      await page.keyboard.press("End");
      return (await items.last().getAttribute("aria-posinset")) === "51" || undefined;
    }, "the last of 51");
  });

  test("a key without `history:read` is told that it does not show the inbox, and does not ask for it", async () => {
    const org = await createOrganization(herald());
    await org.user("bob");
    const { key } = await createKey(herald(), { scopes: ["directory:read"], organization: org.id });
    const { console } = await openUser(org, "bob", key);
    await using _ = console;
    await console.sees("Your key does not show the inbox");
    expect(console.requests.filter((address) => address.includes("system-messages"))).toEqual([]);
  });
});
