import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Locator } from "playwright-core";
import type { OnlineUser, Page } from "../harness/clients/wire.ts";
import { eventually } from "../harness/deadline.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { findChromium, launchChromium, visit } from "./browser.ts";

const chromium = findChromium();
const herald = useHerald({
  env: {
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_REQUESTS_BURST: "0",
  },
});

/** The distance of an element from the top of the screen. */
const topOf = async (element: Locator) => Math.round((await element.boundingBox())?.y ?? Number.NaN);

/** The same, once it has not moved for a while: rows that come on the screen take their heights a few frames later. */
const restingTopOf = (element: Locator) =>
  element.evaluate(
    (shown) =>
      new Promise<number>((resolve) => {
        let [top, frames] = [Number.NaN, 0];
        const look = () => {
          const now = Math.round(shown.getBoundingClientRect().top);
          [top, frames] = [now, now === top ? frames + 1 : 0];
          if (frames === 20) resolve(top);
          else requestAnimationFrame(look);
        };
        look();
      }),
  );

describe.if(chromium !== undefined)("long lists in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  test.each([380, 1280])("Back leads to the row where the reader was, %d pixels wide", async (width) => {
    const org = await createOrganization(herald());
    await org.conversation(Array.from({ length: 700 }, (_, index) => `user-${String(index).padStart(3, "0")}`));
    await using console = await visit(browser, herald(), { width });
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await console.open("Users");
    const user = (id: string) => page.getByRole("link", { name: id });
    await eventually(async () => {
      await page.keyboard.press("End");
      return (await user("user-699").count()) || undefined;
    }, "the last user");
    const rows = page.getByRole("table", { name: "Users" }).getByRole("row");
    await console.expectAccessible("a long list");
    const id = "user-690";
    await user(id).scrollIntoViewIfNeeded();
    const left = user(id).evaluate(
      (link) =>
        new Promise<number>((resolve) => {
          link.addEventListener("click", () => resolve(Math.round(link.getBoundingClientRect().top)));
        }),
    );
    await user(id).click();
    const before = await left;
    await page.getByRole("heading", { level: 1, name: id }).waitFor();
    await page.waitForFunction(() => scrollY === 0);
    await page.goBack();
    await user(id).waitFor();
    await eventually(async () => (await topOf(user(id))) === before || undefined, "the row where it was");
    expect(await rows.count()).toBeLessThan(60);
    await page.goForward();
    await page.getByRole("heading", { level: 1, name: id }).waitFor();
    await page.waitForFunction(() => scrollY === 0);
  });

  test("users are ordered by a column, by keyboard: at first those who are online, and then who was seen last", async () => {
    const org = await createOrganization(herald());
    await org.conversation(["alice", "bob", "carol", "dora"]);
    await herald().admin("PUT", org.path("users", "alice"), { name: "Zoe" });
    const gone = await org.socket("dora");
    gone.close();
    await eventually(async () => {
      const { body } = await herald().admin<Page<OnlineUser>>("GET", `${org.path("online")}?uids=dora&last_seen=true`);
      return body.items[0]?.last_seen ?? undefined;
    }, "when dora was last seen");
    using _carol = await org.socket("carol");
    await using console = await visit(browser, herald());
    const { page, requests } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await console.open("Users");
    const table = page.getByRole("table", { name: "Users" });
    const becomes = (...ids: string[]) =>
      eventually(
        async () => Bun.deepEquals(await table.getByRole("rowheader").allInnerTexts(), ids) || undefined,
        ids.join(),
      );
    await becomes("carol", "dora", "alice", "bob");
    await table.getByRole("row", { name: "dora" }).locator("time").first().waitFor();
    const sortedBy = () =>
      table.locator("[aria-sort]").evaluateAll((titles) => titles.map((one) => [one.textContent, one.ariaSort]));
    expect(await sortedBy()).toEqual([["Last seen↓", "descending"]]);
    await table.getByRole("button", { name: "Id" }).focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await becomes("bob", "carol", "dora", "alice");
    expect(await sortedBy()).toEqual([["Name↑", "ascending"]]);
    await page.keyboard.press("Enter");
    await becomes("alice", "dora", "carol", "bob");
    expect(await sortedBy()).toEqual([["Name↓", "descending"]]);
    await page
      .locator(":focus")
      .and(table.getByRole("button", { name: "Name" }))
      .waitFor();
    for (const asked of requests.filter((address) => address.includes("uids=")))
      expect(asked).toContain("uids=alice,bob,carol,dora");
    await console.expectAccessible("a table in another order");
  });

  test("what arrives in a conversation does not move what the reader sees, and Back leads there", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    for (let index = 0; index < 120; index++)
      await org.sent("alice", { cid, body: `old-${String(index).padStart(3, "0")}\n`.repeat(1 + (index % 3)) });
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.goto(`${new URL(herald().url).origin}/console#/conversations/${cid}?org=${org.id}`);
    await console.sees("listening");
    await console.sees("old-119");
    const message = (body: string) => page.getByRole("listitem").filter({ hasText: body });
    await eventually(async () => {
      await page.keyboard.press("End");
      if ((await message("old-005").count()) > 0) return true;
      // It may be gone before it is clicked, as the list goes on by itself.
      await page
        .getByRole("button", { name: "Show more" })
        .click({ timeout: 500 })
        .catch(() => undefined);
      return undefined;
    }, "an old message");
    await message("old-005").scrollIntoViewIfNeeded();
    const before = await restingTopOf(message("old-005"));
    for (let index = 0; index < 5; index++) await org.sent("bob", { cid, body: `new ${index}` });
    await page.waitForFunction(() => document.querySelector("[aria-live]")?.textContent?.includes("new message"));
    expect(Math.abs((await topOf(message("old-005"))) - before)).toBeLessThan(2);
    const left = await topOf(message("old-005"));
    await page.evaluate(() => {
      location.hash = "#/overview";
    });
    await console.sees("Nodes");
    await page.goBack();
    await message("old-005").waitFor();
    await eventually(
      async () => Math.abs((await topOf(message("old-005"))) - left) < 2 || undefined,
      "the same message",
    );
  });

  test("the row with the focus stays, however far the list is scrolled", async () => {
    const org = await createOrganization(herald());
    await org.conversation(Array.from({ length: 300 }, (_, index) => `user-${String(index).padStart(3, "0")}`));
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await console.open("Users");
    const first = page.getByRole("link", { name: "user-000" });
    await first.focus();
    await page.mouse.wheel(0, 4_000);
    await page.getByRole("link", { name: "user-130" }).waitFor();
    await page.locator(":focus").and(first).waitFor();
    expect(await page.getByRole("link", { name: "user-020" }).count()).toBe(0);
    await page.keyboard.press("Tab");
    await page.getByRole("link", { name: "user-001" }).waitFor();
  });
});
