import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { useHerald } from "../harness/servers/herald.ts";
import { callWith, createKey } from "../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";
import { proposing } from "../harness/servers/proposing.ts";
import { findChromium, launchChromium, type Screen, screens, type Visit, visit } from "./browser.ts";
import { playTraffic, shoot } from "./screenshots.ts";

const chromium = findChromium();
const names = ["acme", "globex", "initech", "umbrella"];
const herald = useHerald();

describe.if(chromium !== undefined)("the console in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  const choose = async ({ page }: Visit, org: string) => {
    await page.getByLabel("Organization").first().selectOption(org);
  };

  /** Follows, changes and looks into the messages of a conversation that is open. */
  const inConversation = async (console: Visit, org: Organization, cid: string, screen: Screen) => {
    const { page } = console;
    const entries = page.getByRole("list", { name: "Messages, newest first" }).locator("> li");
    const dialog = page.getByRole("dialog");
    const { server_mid } = await org.sent("bob", { cid, body: "To the wrong door, I am afraid." });
    await org.recalled("bob", cid, server_mid);
    await org.sent("bob", { cid, body: "It is at my door at nine, thank you." });
    await entries.first().getByText("It is at my door at nine, thank you.").waitFor();
    await entries.first().getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("Text").fill("It is at my door, thank you.");
    await console.expectAccessible("editing a message");
    await shoot(page, "edit", screen);
    await dialog.getByRole("button", { name: "Save" }).click();
    await entries.first().getByText("It is at my door, thank you.").waitFor();
    await entries.first().getByRole("button", { name: "Take back" }).click();
    await dialog.waitFor();
    await console.expectAccessible("taking a message back");
    await shoot(page, "recall", screen);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await entries.first().getByText("Who has it").click();
    await entries.first().getByText("Each recipient").click();
    await entries.first().getByText("missing").last().waitFor();
    await page.getByRole("heading", { level: 1 }).focus();
    await console.expectAccessible("a conversation");
    await shoot(page, "conversation", screen);
  };

  describe.each(screens)("%j", (screen) => {
    // One organization for the tests of a screen, with a name that is legible in the pictures.
    const organization = () => createOrganization(herald(), names[screens.indexOf(screen)]);

    test("a message from Compose reaches two of three participants, and its report says so", async () => {
      const org = await organization();
      const cid = await org.conversation(["alice", "bob", "carol"], "welcome");
      using alice = await org.socket("alice");
      using bob = await org.socket("bob");
      await using console = await visit(browser, herald(), screen);
      const { page } = console;
      await console.expectAccessible("signing in");
      await shoot(page, "sign-in", screen);
      await console.signIn();
      await choose(console, org.id);
      await console.open("Compose");
      await page.getByLabel("From (user)").fill("alice");
      await page.getByLabel("To (conversation)").fill(cid);
      await page.getByLabel("Text").fill("Your parcel is on its way.");
      await page.getByLabel("x, custom parameters").fill('{"parcel": 7}');

      await page.getByRole("button", { name: "Dry run" }).click();
      const dryRun = page.getByRole("region", { name: "Dry run" });
      await dryRun.getByText("nothing was sent").waitFor();
      expect(await dryRun.locator("dd").allInnerTexts()).toEqual(["3", "2"]);
      expect(await org.history(cid)).toEqual([]);

      await page.getByRole("button", { name: "Send" }).click();
      const report = page.getByRole("region", { name: "Delivery" });
      await report.getByText("2 of 3").waitFor();
      for (const listener of [alice, bob])
        expect((await listener.next()).message).toMatchObject({ body: "Your parcel is on its way.", x: { parcel: 7 } });
      await console.expectAccessible("Compose");
      await shoot(page, "compose", screen);
      expect(await org.history(cid)).toHaveLength(1);
    });

    test("a system message shows up in Live, with which of its users got it", async () => {
      const org = await organization();
      await org.user("alice");
      await org.user("carol");
      using bob = await org.socket("bob");
      await using console = await visit(browser, herald(), screen);
      const { page } = console;
      await console.signIn();
      await choose(console, org.id);
      await console.open("Live");
      await console.sees("listening");
      const cid = await org.conversation(["alice", "bob"], "parcel news");
      await playTraffic(org, cid, 4);
      const { server_mid } = await org.sent("alice", { cid, body: "Your parcel comes at nine." });
      await org.edited("alice", { id: server_mid, body: "Your parcel comes at ten." });
      await org.hasRead("bob", cid);
      await org.recalled("alice", cid, server_mid);
      const { mid } = await org.sentSystem("alice", {
        uids: ["bob", "carol"],
        x: { notice: "the office closes at six" },
      });
      await bob.next((event) => event.system_message?._id === mid);
      await page.getByRole("button", { name: /the office closes at six/ }).click();
      const detail = page.getByRole("region", { name: "The chosen event" });
      await detail.getByText(mid).waitFor();
      await detail.getByText("1 of 2").waitFor();
      expect(await detail.getByRole("list", { name: "Each user" }).getByRole("listitem").allInnerTexts()).toEqual([
        "bob delivered",
        expect.stringMatching(/^carol offline\nWhy\?/),
      ]);
      await console.expectAccessible("Live");
      await shoot(page, "live", screen);
    });

    test("a message waits for its time, and can be cancelled until then", async () => {
      const org = await organization();
      const cid = await org.conversation(["alice", "bob"], "parcel news");
      await org.user("carol");
      await using console = await visit(browser, herald(), screen);
      const { page } = console;
      await console.signIn();
      await choose(console, org.id);
      await console.open("Compose");
      await page.getByLabel("From (user)").fill("alice");
      await page.getByLabel("To (conversation)").fill(cid);
      await page.getByLabel("Text").fill("Good morning: your parcel comes today.");
      await page.getByText("Later", { exact: true }).click();
      const tomorrow = `${new Date(Date.now() + 24 * 3600_000).toISOString().slice(0, 10)}T08:30`;
      await page.getByLabel("Send at").fill(tomorrow);
      await page.getByRole("button", { name: "Schedule" }).click();
      const accepted = page.getByRole("region", { name: "Scheduled" });
      const firstId = await accepted.locator("dd.mono").innerText();
      await page.getByText("System message", { exact: true }).click();
      await page.getByText("Everyone", { exact: true }).click();
      await page.getByLabel("x, custom parameters").fill('{"notice": "the office is closed"}');
      await console.expectAccessible("Compose for everyone, later");
      await shoot(page, "compose-later", screen);
      await page.getByRole("button", { name: "Schedule" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Schedule" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await accepted.locator("dd.mono").filter({ hasNotText: firstId }).waitFor();

      await console.open("Scheduled");
      const rows = page.getByRole("list", { name: "Scheduled sends" }).getByRole("listitem");
      await rows.getByText("your parcel comes today").waitFor();
      await rows.getByText("alice → everyone").waitFor();
      await console.expectAccessible("Scheduled");
      await shoot(page, "scheduled", screen);
      await rows.filter({ hasText: "your parcel" }).getByRole("button", { name: "Cancel" }).click();
      await console.expectAccessible("cancelling");
      await page.getByRole("dialog").getByRole("button", { name: "Cancel the send" }).click();
      await rows.getByText("your parcel comes today").waitFor({ state: "detached" });
      expect(await rows.count()).toBe(1);
    });

    test("what an agent proposes is approved by one key, or rejected with a reason", async () => {
      const org = await organization();
      const cid = await org.conversation(["alice", "bob", "carol"], "parcel news");
      using bob = await org.socket("bob");
      const scopes = ["message:propose"];
      const { key: agent } = await createKey(herald(), { name: "support agent", organization: org.id, scopes });
      const { put, get, messageOf, systemOf } = proposing(org);
      const refund = messageOf("alice", { cid, body: "We are sorry: we refund the shipping.", x: { refund: 4.9 } });
      await put("refund-4711", { request: refund, reason: "The parcel came two days late." }, agent);
      await put("shout", { request: messageOf("alice", { cid, body: "BUY NOW!" }) }, agent);
      const everyone = systemOf("alice", { everyone: true, x: { notice: "the office is closed" } });
      await put("closed", { request: everyone, reason: "It is a public holiday." }, agent);
      await using console = await visit(browser, herald(), screen);
      const { page } = console;
      await console.signIn();
      await choose(console, org.id);
      await console.open("Proposals");
      const rows = page.getByRole("list", { name: "Proposals" }).getByRole("listitem");
      const refunds = rows.filter({ hasText: "we refund the shipping" });
      await refunds.getByText("3 users, 1 online now").waitFor();
      await refunds.getByText("support agent").waitFor();
      await rows.filter({ hasText: "public holiday" }).getByText("alice → everyone").waitFor();
      await console.expectAccessible("Proposals");
      await shoot(page, "proposals", screen);

      await refunds.getByRole("button", { name: "Approve" }).focus();
      await page.keyboard.press("a");
      expect((await bob.next()).message).toMatchObject({ body: "We are sorry: we refund the shipping." });
      await refunds.waitFor({ state: "detached" });
      await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "Approve shout");
      await page.keyboard.press("r");
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Reason").fill("Not like this.");
      await console.expectAccessible("rejecting");
      await shoot(page, "reject", screen);
      await dialog.getByRole("button", { name: "Reject" }).click();
      await rows.filter({ hasText: "BUY NOW!" }).waitFor({ state: "detached" });
      expect((await get("shout")).body).toMatchObject({ state: "rejected", decision_reason: "Not like this." });
      await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "Approve closed");
      await page.keyboard.press("a");
      await dialog.getByRole("button", { name: "Approve and send" }).click();
      expect((await bob.next()).system_message).toMatchObject({ x: { notice: "the office is closed" } });
      await console.sees("Nothing waits for a decision");
      await page.getByLabel("State").selectOption("approved");
      await rows.nth(1).waitFor();
      await console.expectAccessible("approved proposals");
      await shoot(page, "proposals-approved", screen);
    });

    test("a key created and revoked here is accepted, and then refused", async () => {
      const org = await organization();
      await using console = await visit(browser, herald(), screen);
      const { page } = console;
      await console.signIn();
      await choose(console, org.id);
      await console.open("Keys");
      await page.getByRole("button", { name: "New key" }).click();
      const name = `parcel tracking of ${org.id}`;
      await page.getByLabel("What the key is for").fill(name);
      await page.getByRole("checkbox", { name: "directory:read" }).check();
      await console.expectAccessible("a new key");
      await page.getByRole("button", { name: "Create the key" }).click();
      const key = await page.getByLabel("API key", { exact: true }).inputValue();
      expect(key).toStartWith("hk_");
      await page.getByRole("button", { name: "I have saved it" }).click();
      expect((await callWith(herald(), key, "GET", org.path())).status).toBe(200);
      await console.expectAccessible("Keys");
      await shoot(page, "keys", screen);

      await using other = await visit(browser, herald(), screen);
      await other.signIn(key);
      // A page that reads nothing by itself: a refusal would end the session before its next page is chosen.
      await other.open("Organizations");
      await other.page.getByRole("table", { name: "Organizations" }).getByRole("link").first().waitFor();

      await page.getByRole("button", { name: `Revoke ${name}` }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
      await page.getByRole("button", { name: `Revoke ${name}` }).waitFor({ state: "detached" });
      expect((await callWith(herald(), key, "GET", org.path())).status).toBe(401);
      await other.choosePage("Users");
      await other.sees(
        "The server refuses this key. It may be mistyped, expired or revoked, or not allowed from this network.",
      );
    });

    test("the other pages show existing data, and axe finds nothing serious on them", async () => {
      const org = await organization();
      await herald().admin("PUT", org.path(), { limits: { messages_per_second: 500, stored_bytes: 1_000_000_000 } });
      const cid = await org.conversation(["alice", "bob"], "parcel news");
      await org.sent("alice", { cid, body: "Your parcel is on its way.", x: { parcel: 7 } });
      using alice = await org.socket("alice", { device_id: "kitchen radio" });
      await using console = await visit(browser, herald(), screen);
      const { page } = console;
      await console.signIn();
      await choose(console, org.id);
      await console.sees("Nodes");
      await playTraffic(org, cid, 30);
      await console.expectAccessible("Overview");
      await shoot(page, "overview", screen);

      await console.open("Conversations");
      await console.sees("parcel news");
      await console.expectAccessible("Conversations");
      await page.getByRole("link", { name: "parcel news" }).click();
      await console.sees("Your parcel is on its way.");
      await page.getByText("online", { exact: true }).waitFor();
      await console.sees("listening");
      await inConversation(console, org, cid, screen);

      using tablet = await org.socket("alice", { device_id: "old tablet" });
      await console.open("Users");
      await console.sees("alice");
      await console.expectAccessible("Users");
      await page.getByRole("link", { name: "alice" }).click();
      const connections = page.getByRole("region", { name: "Connected now" });
      await connections.getByText("kitchen radio").waitFor();
      const hung = connections.getByRole("listitem").filter({ hasText: "old tablet" });
      await hung.getByRole("button", { name: "Close" }).click();
      expect((await tablet.closed).code).toBe(1012);
      await hung.waitFor({ state: "detached" });
      const deliveries = page.getByRole("region", { name: "Deliveries" });
      await deliveries.getByText("delivered").first().waitFor();
      await deliveries.getByLabel("Show").selectOption("missing");
      await deliveries.getByText("missing").first().waitFor(); // what was sent before alice connected
      await deliveries.getByLabel("Show").selectOption("");
      await deliveries.getByText("delivered").first().waitFor();
      await page.getByRole("button", { name: "Issue a token" }).click();
      const token = await page.getByLabel("User token").inputValue();
      expect(token.split(".")).toHaveLength(3);
      await console.expectAccessible("a user");
      await shoot(page, "user", screen);
      await page.getByRole("button", { name: "Sign alice out" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
      expect((await alice.closed).code).toBe(4403);
      await page.getByRole("button", { name: "Block alice" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Block", exact: true }).click();
      await page.getByText("blocked", { exact: true }).waitFor();
      await console.expectAccessible("a user who is blocked");
      await shoot(page, "user-blocked", screen);
      await page.getByRole("button", { name: "Unblock alice" }).click();
      await page.getByRole("button", { name: "Block alice" }).waitFor();

      await console.open("Audit");
      await console.sees("deleteSessions");
      await console.expectAccessible("Audit");
      await shoot(page, "audit", screen);

      await console.open("Organizations");
      await page.getByRole("link", { name: org.id, exact: false }).first().click();
      await console.sees("Limits and use");
      await page.getByRole("button", { name: "Change name and limits" }).click();
      await console.expectAccessible("an organization, with its form");
      await shoot(page, "organization", screen);
    });
  });
});
