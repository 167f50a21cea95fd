import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { useHerald } from "../harness/servers/herald.ts";
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
});
