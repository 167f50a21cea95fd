import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { eventually } from "../harness/deadline.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createKey } from "../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";
import { findChromium, launchChromium, visit } from "./browser.ts";

const chromium = findChromium();
const herald = useHerald();

describe.if(chromium !== undefined)("sends for many and for later, in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  /** Opens a page of an organization in the console, signed in with a key. */
  async function open(org: Organization, title: string, key?: string) {
    const console = await visit(browser, herald());
    const { page } = console;
    await console.signIn(key);
    if (key === undefined) await page.getByLabel("Organization").selectOption(org.id);
    await console.open(title);
    return { console, page };
  }

  /** Schedules a message over HTTP, by default for tomorrow. */
  async function schedule(org: Organization, id: string, cid: string, { body = "later", inMs = 24 * 3600_000 } = {}) {
    const request = { organizationId: org.id, senderId: "alice", message: { cid, body } };
    const send_at = new Date(Date.now() + inMs).toISOString();
    expect((await herald().admin("PUT", org.path("scheduled", id), { send_at, request })).status).toBeOneOf([200, 201]);
  }

  test("a system message goes to a conversation, with each of its participants listed", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using bob = await org.socket("bob");
    const { console, page } = await open(org, "Compose");
    await using _ = console;
    await page.getByText("System message", { exact: true }).click();
    await page.getByText("A conversation", { exact: true }).click();
    await page.getByLabel("From (user)").fill("alice");
    await page.getByRole("button", { name: "Send" }).click();
    await console.sees("Enter the conversation that it goes to.");
    await page.getByLabel("To (conversation)").fill(cid);
    await page.getByText("Silent and expiry").click();
    await page.getByLabel("Silent").check();
    await page.getByRole("button", { name: "Send" }).click();
    const report = page.getByRole("region", { name: "Delivery" });
    await report.getByText("1 of 2").waitFor();
    await report.getByText("Each recipient").click();
    const users = report.getByRole("list", { name: "Each recipient" }).getByRole("listitem");
    await users.nth(1).waitFor();
    const shown = (await users.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " "));
    expect(shown).toEqual([
      expect.stringMatching(/^alice .*missing Why\?/),
      expect.stringMatching(/^bob .*delivered$/),
    ]);
    expect((await bob.next()).system_message).toMatchObject({ from: "alice", cid, silent: true });
  });

  test("a system message goes to everyone only after a confirmation", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    using bob = await org.socket("bob");
    using carol = await org.socket("carol");
    const { console, page } = await open(org, "Compose");
    await using _ = console;
    await page.getByText("System message", { exact: true }).click();
    await page.getByText("Everyone", { exact: true }).click();
    await page.getByLabel("From (user)").fill("alice");
    await page.getByRole("button", { name: "Dry run" }).click();
    const dryRun = page.getByRole("region", { name: "Dry run" });
    await dryRun.waitFor();
    expect(await dryRun.locator("dd").allInnerTexts()).toEqual(["3", "2"]);
    await page.getByRole("button", { name: "Send" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(`Send to everyone in ${org.id}?`).waitFor();
    await console.expectAccessible("the confirmation");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await org.expectNothingElse(bob, carol);
    await page.getByRole("button", { name: "Send" }).click();
    await dialog.getByRole("button", { name: "Send to everyone" }).click();
    for (const listener of [bob, carol])
      expect((await listener.next()).system_message).toMatchObject({ from: "alice" });
    await page.getByRole("progressbar", { name: "Users who have it" }).waitFor();
    expect(await page.getByText("Each recipient").count()).toBe(0);
  });

  test("a message is scheduled, listed, and cancelled before its time", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const { console, page } = await open(org, "Compose");
    await using _ = console;
    await page.getByLabel("From (user)").fill("alice");
    await page.getByLabel("To (conversation)").fill(cid);
    await page.getByLabel("Text").fill("Good morning");
    await page.getByText("Later", { exact: true }).click();
    await page.getByLabel("Send at").fill("");
    await page.getByRole("button", { name: "Schedule" }).click();
    await console.sees("Choose a date and a time.");
    await page.getByLabel("Send at").fill("2090-01-01T09:00");
    await page.getByRole("button", { name: "Dry run" }).click();
    await page.getByRole("alert").waitFor();
    expect(await page.getByText("year").count()).toBe(1); // at its field, and not in the notice again
    const nextYear = `${new Date().getFullYear() + 1}-01-01T09:00`;
    await page.getByLabel("Send at").fill(nextYear);
    await page.getByRole("button", { name: "Dry run" }).click();
    await console.sees("nothing was sent");
    await page.getByRole("button", { name: "Schedule" }).click();
    await page.getByRole("region", { name: "Scheduled" }).waitFor();

    await page.getByRole("link", { name: "See what waits, and cancel it" }).click();
    const rows = page.getByRole("list", { name: "Scheduled sends" }).getByRole("listitem");
    await rows.getByText("Good morning").waitFor();
    await rows.getByText(`alice → ${cid}`).waitFor();
    const { body } = await herald().admin<{ items: { send_at: string }[] }>("GET", org.path("scheduled"));
    expect(body.items.map(({ send_at }) => Date.parse(send_at))).toEqual([new Date(nextYear).getTime()]);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the send" }).click();
    await console.sees("Nothing is scheduled");
    await page.getByLabel("State").selectOption("Cancelled");
    await rows.getByText("cancelled", { exact: true }).waitFor();
    expect(await org.history(cid)).toEqual([]);
  });

  test("what is scheduled for a time that has passed is sent at once", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const { console, page } = await open(org, "Compose");
    await using _ = console;
    await page.getByLabel("From (user)").fill("alice");
    await page.getByLabel("To (conversation)").fill(cid);
    await page.getByLabel("Text").fill("already due");
    await page.getByText("Later", { exact: true }).click();
    await page.getByLabel("Send at").fill("2020-01-01T09:00");
    await console.sees("This time has passed, so it is sent at once.");
    await page.getByRole("button", { name: "Schedule" }).click();
    await page.getByRole("region", { name: "Scheduled" }).waitFor();
    const [message] = await eventually(async () => {
      const history = await org.history(cid);
      return history.length > 0 ? history : undefined;
    }, "the message");
    await console.open("Scheduled");
    await page.getByLabel("State").selectOption("Sent");
    await page.getByText(message?._id ?? "").waitFor();
  });

  test("a send that was sent meanwhile cannot be cancelled, and the list says so", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    await schedule(org, "report 1", cid);
    const { console, page } = await open(org, "Scheduled");
    await using _ = console;
    await page.getByRole("button", { name: "Cancel report 1" }).click();
    await schedule(org, "report 1", cid, { inMs: -1000 });
    await eventually(async () => (await org.history(cid)).length > 0 || undefined, "the message");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Cancel the send" }).click();
    await dialog.getByText("already_sent").waitFor();
    await dialog.getByRole("button", { name: "Cancel", exact: true }).click();
    await console.sees("Nothing is scheduled");
    await page.getByRole("link", { name: "Schedule a send" }).click();
    await page.getByLabel("Send at").waitFor();
    expect(Date.parse(await page.getByLabel("Send at").inputValue())).toBeGreaterThan(0);
  });

  test("a key that sends nothing sees what waits, and may not cancel it", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    await schedule(org, "reminder", cid, { body: "the text" });
    const { key } = await createKey(herald(), { scopes: ["history:read"], organization: org.id });
    const { console, page } = await open(org, "Scheduled", key);
    await using _ = console;
    await console.sees("the text");
    expect(await page.getByRole("button", { name: /Cancel/ }).count()).toBe(0);
  });
});
