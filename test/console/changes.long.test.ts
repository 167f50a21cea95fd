import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { findChromium, launchChromium, visit } from "./browser.ts";

const chromium = findChromium();
const herald = useHerald();

describe.if(chromium !== undefined)("what happens to a message, in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  test("Live shows an edit, a recall and a read as such, and each kind alone", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await console.open("Live");
    await console.sees("listening");
    const { server_mid } = await org.sent("alice", { cid, body: "at noon" });
    await org.edited("alice", { id: server_mid, body: "at one" });
    await org.hasRead("bob", cid);
    await org.recalled("bob", cid, server_mid);
    const rows = page.getByRole("region", { name: "Events, newest first" }).getByRole("listitem");
    await rows.nth(3).waitFor();
    const shown = (await rows.allInnerTexts()).map((row) => row.split(/\s*\n\s*/).slice(1));
    expect(shown).toEqual([
      ["recall", `bob → ${cid}`, `has taken back ${server_mid}`],
      ["read", `bob → ${cid}`, `has read ${server_mid}`],
      ["edit", `alice → ${cid}`, "at one"],
      ["message", `alice → ${cid}`, "at noon"],
    ]);
    await rows.getByText("at one").click();
    const detail = page.getByRole("region", { name: "The chosen event" });
    await detail.getByRole("heading", { name: "Message edited" }).waitFor();
    await detail.getByText('"message_edit"').waitFor();
    await rows.getByText("has taken back").click();
    await detail.getByRole("heading", { name: "Messages taken back" }).waitFor();

    const isFiltered = page.waitForResponse(
      (response) => new URL(response.url()).searchParams.get("kind") === "message_delete",
    );
    await page.getByLabel("Kind").selectOption("Recalls");
    await isFiltered; // "listening" may still refer to the previous feed
    await console.sees("listening");
    const { server_mid: other } = await org.sent("alice", { cid, body: "later" });
    await org.recalled("alice", cid, other);
    await rows.getByText(`has taken back ${other}`).waitFor();
    expect(await rows.count()).toBe(1);
  });
});
