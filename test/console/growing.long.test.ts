import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";
import { findChromium, launchChromium, screens, visit } from "./browser.ts";
import { shoot } from "./screenshots.ts";

const chromium = findChromium();
const herald = useHerald();

/** Sends an open message. `append` adds to its text, or completes it. */
async function openMessage(org: Organization, senderId: string, cid: string) {
  const { server_mid: id } = await org.sent(senderId, { cid, open: true });
  let offset = 0;
  const append = async (text: string, done = false) => {
    offset = await org.appended(senderId, { id, offset, text, done });
  };
  return { id, append };
}

describe.if(chromium !== undefined)("a message that grows, in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  test.each(screens)(
    "Live shows a message that grows as one event, with a mark until it is complete: %j",
    async (screen) => {
      const org = await createOrganization(herald());
      const cid = await org.conversation(["alice", "bob"]);
      await using console = await visit(browser, herald(), screen);
      const { page } = console;
      await console.signIn();
      const rows = page.getByRole("region", { name: "Events, newest first" }).getByRole("listitem");
      for (const kind of ["", "&kind=message"]) {
        const isFollowed = page.waitForResponse((response) => {
          const { pathname, searchParams } = new URL(response.url());
          return pathname.endsWith("/events") && searchParams.has("types") === (kind !== "");
        });
        await page.goto(`${new URL(herald().url).origin}/console#/live?org=${org.id}&cid=${cid}${kind}`);
        await isFollowed; // "listening" may still refer to the previous feed
        await console.sees("listening");
        const answer = await openMessage(org, "alice", cid);
        await rows.getByText("being written").waitFor();
        await answer.append("We open ");
        await rows.getByText("We open").click();
        const detail = page.getByRole("region", { name: "The chosen event" });
        await detail.getByText('"body": "We open "').waitFor();
        await answer.append("at ten.");
        await detail.getByText('"body": "We open at ten."').waitFor();
        await console.expectAccessible("an event that grows");
        await shoot(page, `live-open${kind && "-messages"}`, screen);
        await answer.append("", true);
        await detail.getByText('"open"').waitFor({ state: "detached" });
        await page.getByRole("button", { name: "Resume" }).click();
        await rows.getByText("being written").waitFor({ state: "detached" });
        await rows.getByText("We open at ten.").waitFor();
        expect(await rows.count()).toBe(1);
        const taken = await openMessage(org, "bob", cid);
        await rows.getByText("being written").waitFor();
        await org.recalled("bob", cid, taken.id);
        await rows.getByText("being written").waitFor({ state: "detached" });
        expect(await rows.count()).toBe(kind === "" ? 3 : 2);
      }
    },
  );

  test.each(screens)(
    "a conversation shows a message grow, and offers to edit it once it is complete: %j",
    async (screen) => {
      const org = await createOrganization(herald());
      const cid = await org.conversation(["alice", "bob"]);
      await org.sent("alice", { cid, body: "When do you open?" });
      const answer = await openMessage(org, "bob", cid);
      await answer.append("We open ");
      await using console = await visit(browser, herald(), screen);
      const { page } = console;
      await console.signIn();
      await page.goto(`${new URL(herald().url).origin}/console#/conversations/${cid}?org=${org.id}`);
      await console.sees("listening");
      const first = page.getByRole("list", { name: "Messages, newest first" }).locator("> li").first();
      await first.getByText("being written").waitFor();
      await first.getByText("We open").waitFor();
      await answer.append("at ten, and close ");
      await first.getByText("We open at ten, and close").waitFor();
      expect(await first.getByRole("article").getAttribute("aria-busy")).toBe("true");
      expect(await first.getByRole("button", { name: "Edit" }).count()).toBe(0);
      await console.expectAccessible("a message that grows");
      await shoot(page, "conversation-open", screen);
      await answer.append("at six.", true);
      await first.getByText("being written").waitFor({ state: "detached" });
      await first.getByText("We open at ten, and close at six.").waitFor();
      expect(await first.getByRole("article").getAttribute("aria-busy")).toBeNull();
      await first.getByRole("button", { name: "Edit “We open at ten, and close at six.”" }).waitFor();
      const taken = await openMessage(org, "alice", cid);
      await first.getByText("being written").waitFor();
      await org.recalled("bob", cid, taken.id);
      await first.getByText("bob has taken back this message.").waitFor();
      expect(await page.getByText("being written").count()).toBe(0);
    },
  );
});
