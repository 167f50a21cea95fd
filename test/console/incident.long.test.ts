import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Locator } from "playwright-core";
import { expectClosed, openSocket } from "../harness/clients/socket.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { findChromium, launchChromium, visit } from "./browser.ts";

const chromium = findChromium();
const herald = useHerald({ oneNode: "what a node remembers is looked at in test/contract" });

describe.if(chromium !== undefined)("the console in an incident", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  test("says why each recipient does not have a message, and what to do next", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "blocked", "left", "refused"]);
    await org.join(cid, "stranger");
    await org.leave(cid, "stranger");
    const put = (path: string, body: object) => herald().admin("PUT", path, body);
    await put(org.path("users", "blocked"), { blocked: true });
    const { server_mid: id } = await org.sent("alice", { cid, body: "Who has it?" });
    await herald().admin("DELETE", org.path("conversations", cid, "participants", "left"));
    const token = await org.token("refused");
    await herald().admin("DELETE", org.path("users", "refused", "sessions"));
    using refused = await openSocket(herald().url, { headers: { Authorization: `Bearer ${token}` } });
    await expectClosed(refused, 4401);

    await using console = await visit(browser, herald(), { width: 380 });
    const { page } = console;
    await console.signIn();
    await page.goto(`${new URL(page.url()).origin}/console#/messages/${id}?org=${org.id}`);
    await page.getByText("Each recipient").click();
    async function ask(uid: string): Promise<Locator> {
      await page.getByRole("button", { name: `Why? ${uid} does not have it` }).click();
      return page.getByRole("status", { name: `Why ${uid} did not get it` });
    }
    await (await ask("alice")).getByText("Herald knows of no earlier connection").waitFor();
    const ofBlocked = await ask("blocked");
    await ofBlocked.getByText("They are blocked").waitFor();
    await (await ask("refused")).getByText(/refused at .*revoked, or they were signed out/).waitFor();
    const ofLeft = await ask("left");
    await ofLeft.getByText(/They were removed from the conversation at .*, before it reached them/).waitFor();
    await console.expectAccessible("why recipients do not have a message");
    await ofLeft.getByRole("button", { name: "Add left to the conversation" }).click();
    await ofLeft.getByText("Herald knows of no earlier connection").waitFor();

    await page.getByText("Why did somebody not get it?").click();
    await page.getByLabel("User", { exact: true }).fill("stranger");
    await page.getByRole("button", { name: "Ask" }).click();
    await page
      .getByText(/They were removed from the conversation at .*, by the key bootstrap, before it was/)
      .waitFor();

    await ofBlocked.getByRole("link", { name: "Unblock blocked" }).click();
    await page.getByRole("heading", { level: 1, name: "blocked" }).waitFor();
    await (await ask("blocked")).getByText("They are blocked").waitFor();
    await console.expectAccessible("why a user does not have a message");
    await page.goto(`${new URL(page.url()).origin}/console#/users/refused?org=${org.id}`);
    await page.getByText(/Their token was refused at .*: it was revoked, or they were signed out/).waitFor();
    await page.getByText("Why did they not get a message?").click();
    await page.locator(":focus").and(page.getByLabel("Id of the message")).waitFor();
    await page.keyboard.insertText(id);
    await page.keyboard.press("Enter");
    const ofRefused = page.getByRole("status", { name: "Why refused did not get it" });
    await ofRefused.getByRole("button", { name: "Issue a token to test with" }).click();
    await page.locator(":focus").and(page.getByLabel("Valid for")).waitFor();
    await console.expectAccessible("why a user gets nothing");
    expect(console.complaints).toEqual([]);
  });

  test("shows at the top what is wrong, with links to where it is mended, and what was before it was opened", async () => {
    const org = await createOrganization(herald());
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await console.sees("Nothing is wrong.");
    await page.route("**/admin/nodes*", async (route) => {
      const response = await route.fetch();
      const { items, history } = await response.json();
      const now = Date.now();
      const problems = [{ kind: "files", since: new Date(now - 90_000).toISOString() }];
      const samples = Array.from({ length: 120 }, (_, index) => ({
        ...history?.samples[0],
        at: new Date(now - (120 - index) * 15_000).toISOString(),
        sends: index < 60 ? 0 : 40,
        refused_tokens: index < 100 ? 0 : 0.5,
      }));
      const told = history && { history: { read_at: new Date(now).toISOString(), samples } };
      await route.fulfill({ response, json: { items: [{ ...items[0], problems }], ...told } });
    });
    await page.route("**/scheduled?*state=failed*", async (route) => {
      const [send_at, nothing] = [new Date().toISOString(), null];
      const times = { send_at, created_at: send_at, sent_at: nothing };
      const failed = { id: "late", state: "failed", ...times, request: nothing, server_mid: nothing, problem: nothing };
      await route.fulfill({ json: { items: [failed], cursor: nothing } });
    });
    await page.reload();
    await page.getByRole("figure", { name: "Sends" }).getByText("peak 40 per second, last 30 min").waitFor();
    const wrong = page.getByRole("list", { name: "Wrong now" });
    await wrong.getByText("User tokens are refused: about 30 a minute").waitFor();
    await wrong.getByRole("link", { name: "The store of files is away" }).waitFor();
    const failed = wrong.getByRole("link", { name: "A scheduled send has failed in the last day" });
    await failed.waitFor();
    await console.expectAccessible("an overview of what is wrong");
    await page.setViewportSize({ width: 380, height: 800 });
    await console.expectAccessible("what is wrong, on a phone");
    await failed.click();
    await page.getByRole("combobox", { name: "State" }).waitFor();
    expect(await page.getByRole("combobox", { name: "State" }).inputValue()).toBe("failed");
    expect(console.complaints).toEqual([]);
  });
});
