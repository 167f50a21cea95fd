import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { useHerald } from "../harness/servers/herald.ts";
import { createKey } from "../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";
import { proposing } from "../harness/servers/proposing.ts";
import { findChromium, launchChromium, visit } from "./browser.ts";

const chromium = findChromium();
const herald = useHerald();

describe.if(chromium !== undefined)("proposals in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  /** An organization with proposals of a key that only proposes, with these ids as their texts. */
  async function setUp(ids: readonly string[]) {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const proposals = proposing(org);
    const agent = await createKey(herald(), { organization: org.id, scopes: ["message:propose"] });
    for (const id of ids)
      expect(
        (await proposals.put(id, { request: proposals.messageOf("alice", { cid, body: id }) }, agent.key)).status,
      ).toBe(201);
    return { org, cid, agent, ...proposals };
  }

  async function open(org: Organization, key?: string) {
    const console = await visit(browser, herald());
    const { page } = console;
    await console.signIn(key);
    if (key === undefined) await page.getByLabel("Organization").selectOption(org.id);
    await console.open("Proposals");
    return { console, page };
  }

  test("a key that is held down decides one proposal, not those after it", async () => {
    const { org, cid } = await setUp(["first", "second", "third"]);
    const { console, page } = await open(org);
    await using _ = console;
    await page.getByRole("button", { name: "Approve first" }).focus();
    await page.keyboard.down("a");
    await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "Approve second");
    for (let again = 0; again < 5; again++) await page.keyboard.down("a"); // Chromium marks them as repeated
    await page.keyboard.up("a");
    await page.keyboard.press("b");
    await page.keyboard.press("Control+a");
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByRole("button", { name: "Approve second" }).waitFor();
    expect((await org.history(cid)).map(({ body }) => body)).toEqual(["first"]);
    await page.getByText("first was approved and sent.").waitFor();
    await page.getByRole("button", { name: "Approve second" }).click();
    await page.getByText("second was approved and sent.").waitFor();
    await page.getByRole("button", { name: "Approve third" }).click();
    await page.getByText("third was approved and sent.").waitFor();
    await page.getByText("Nothing waits for a decision").waitFor();
  });

  test("what was decided meanwhile, or can no longer be sent, is told", async () => {
    const { org, cid, reject } = await setUp(["gone", "late"]);
    const { console, page } = await open(org);
    await using _ = console;
    await page.getByRole("button", { name: "Approve late" }).waitFor();
    await reject("gone");
    await page.getByRole("button", { name: "Approve gone" }).click();
    await page.getByRole("alert").getByText("it was rejected").waitFor();
    await page.getByRole("button", { name: "Approve gone" }).waitFor({ state: "detached" });
    await org.leave(cid, "alice");
    await page.getByRole("button", { name: "Approve late" }).click();
    await page.getByText("was approved, but could not be sent").waitFor();
    await page.getByLabel("State").selectOption("failed");
    await page.getByRole("list", { name: "Proposals" }).getByText("not a participant").waitFor();
    expect(await org.history(cid)).toEqual([]);
  });

  test("what would be refused now is marked", async () => {
    const { org, cid } = await setUp(["one"]);
    await org.leave(cid, "alice");
    const { console } = await open(org);
    await using _ = console;
    await console.sees("The sender is not a participant of the conversation");
  });

  test("a key that only reads, or that proposed it, sees what waits and decides nothing", async () => {
    const { org, cid, put, messageOf } = await setUp(["one"]);
    const { key: reader } = await createKey(herald(), { scopes: ["history:read"], organization: org.id });
    const both = await createKey(herald(), { scopes: ["message:propose", "message:send"], organization: org.id });
    await put("own", { request: messageOf("alice", { cid, body: "mine" }) }, both.key);
    for (const [key, text] of [
      [reader, "one"],
      [both.key, "Your key proposed it"],
    ] as const) {
      const { console, page } = await open(org, key);
      await using _ = console;
      await console.sees(text);
      expect(await page.getByRole("button", { name: /Approve|Reject/ }).count()).toBe(0);
    }
  });
});
