import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { useHerald } from "../harness/servers/herald.ts";
import { createKey } from "../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";
import { proposing } from "../harness/servers/proposing.ts";
import { findChromium, launchChromium, screens, type Visit, visit } from "./browser.ts";
import { shoot } from "./screenshots.ts";

const chromium = findChromium();
const herald = useHerald();

/** The longest id there may be, without a place where a line could be broken. */
const long = (name: string) => `${name}${"m".repeat(128 - name.length)}`;

describe.if(chromium !== undefined)("the layout of the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  test("on a phone, the header is one line, and its menu opens the pages", async () => {
    const org = await createOrganization(herald());
    await using console = await visit(browser, herald(), { width: 380 });
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    const places = await Promise.all(
      [page.getByRole("link", { name: "Herald" }), page.getByLabel("Organization"), page.getByText("Menu")].map((one) =>
        one.boundingBox(),
      ),
    );
    const [top = 0, ...others] = places.map((box) => Math.round((box?.y ?? 0) + (box?.height ?? 0) / 2));
    for (const other of others) expect(Math.abs(other - top)).toBeLessThan(3);
    const links = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
    const menu = page.getByRole("button", { name: "Menu" });
    expect(await links.count()).toBe(0);
    await menu.click();
    await links.last().focus();
    await console.expectAccessible("the menu");
    await shoot(page, "menu", { width: 380, colorScheme: "light" });
    await page.keyboard.press("Escape");
    await page.locator(":focus").and(menu).waitFor();
    expect(await links.count()).toBe(0);
    await menu.click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await links.filter({ hasText: "Keys" }).click();
    await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).waitFor({ state: "hidden" });
  });

  describe.each(screens)("%j", (screen) => {
    test("ids of 128 characters leave every page and every action on the screen", async () => {
      const org = await createOrganization(herald(), long(`org-${screens.indexOf(screen)}-`));
      const [alice, bob, cid] = [long("alice-"), long("bob-"), long("room-")];
      await fill(org, { alice, bob, cid });
      using _alice = await org.socket(alice, { device_id: long("radio-").slice(0, 64) });
      await using console = await visit(browser, herald(), screen);
      const { page } = console;
      await console.signIn();
      const look = async (address: string, text: string, name: string) => {
        await page.goto(`${new URL(herald().url).origin}/console#/${address}?org=${org.id}`);
        await console.sees(text);
        await expectOnScreen(console, name);
        await shoot(page, `long-${name}`, screen);
      };
      await look("overview", "Your key", "overview");
      await look("users", alice, "users");
      await look("conversations", cid, "conversations");
      await look(`users/${alice}`, "Connected now", "user");
      await page.getByRole("region", { name: "Deliveries" }).getByText(cid).first().waitFor();
      await look(`conversations/${cid}`, "said", "conversation");
      await page.getByText("Who has it").first().click();
      await page.getByText("Each recipient").first().click();
      await page.getByText("missing").last().waitFor();
      await expectOnScreen(console, "recipients");
      await shoot(page, "long-recipients", screen);
      await look("scheduled", "later", "scheduled");
      await look("proposals", "proposed", "proposals");
      await look("webhooks", long("hook-"), "webhooks");
      await look(`webhooks/${long("hook-")}`, "Deliveries", "webhook");
      await look("keys", long("key-"), "keys");
      await look("audit", "listWebhookDeliveries", "audit");
      await look("live", "listening", "live");
      await org.sent(alice, { cid, body: "live" });
      await page.getByRole("region", { name: "Events, newest first" }).getByRole("button").first().click();
      await page.getByRole("region", { name: "The chosen event" }).waitFor();
      await expectOnScreen(console, "live-chosen");
      await shoot(page, "long-live-chosen", screen);
      await look("compose", "Send", "compose");
    });
  });
});

/** Fills an organization with one of each thing that the console lists. */
async function fill(org: Organization, { alice, bob, cid }: Record<"alice" | "bob" | "cid", string>): Promise<void> {
  const admin = async (method: string, path: string, body: unknown) => {
    const { status, text } = await org.herald.admin(method, path, body);
    expect([path, status < 300, text]).toEqual([path, true, text]);
  };
  await org.conversation([alice, bob], cid);
  await org.sent(alice, { cid, body: "said" });
  await org.sentSystem(alice, { id: long("notice-"), uids: [alice], x: { notice: long("notice-") }, keep_days: 1 });
  const later = { organizationId: org.id, senderId: alice, message: { id: long("later-"), cid, body: "later" } };
  const send_at = new Date(Date.now() + 3_600_000).toISOString();
  await admin("PUT", org.path("scheduled", long("later-")), { send_at, request: later });
  const { put, messageOf } = proposing(org);
  await put(long("proposal-"), { request: messageOf(alice, { cid, body: "proposed" }), reason: long("because-") });
  await admin("PUT", org.path("webhooks", long("hook-")), { url: `https://example.com/${long("hook-")}` });
  await createKey(org.herald, { name: long("key-"), organization: org.id, allowed_senders: [alice] });
}

/** Expects that axe finds nothing, that nothing is wider than the screen, and that all that can be pressed is on it. */
async function expectOnScreen(console: Visit, what: string): Promise<void> {
  expect({ what, beyond: await beyond(console.page) }).toEqual({ what, beyond: [] });
  await console.expectAccessible(what);
}

/** What can be pressed, but lies beyond the left or right edge of the screen. */
async function beyond(page: Page): Promise<string[]> {
  return await page.evaluate(() =>
    [...document.querySelectorAll("a, button:not(.skip), input, select, textarea, summary")]
      .filter((element) => element.checkVisibility())
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 0 && (box.left < 0 || box.right > innerWidth))
      .map(
        ({ element, box }) =>
          `${element.textContent?.slice(0, 20)} ${Math.round(box.left)} to ${Math.round(box.right)}`,
      ),
  );
}
