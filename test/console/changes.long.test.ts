import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { type Herald, startHerald, useHerald } from "../harness/servers/herald.ts";
import { createKey } from "../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";
import { findChromium, launchChromium, visit } from "./browser.ts";

type Opening = { key?: string; server?: Herald };

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

  /** Opens a conversation in the console, signed in with a key. */
  async function openConversation(org: Organization, cid: string, { key, server = herald() }: Opening = {}) {
    const console = await visit(browser, server);
    const { page } = console;
    await console.signIn(key);
    await page.goto(`${new URL(server.url).origin}/console#/conversations/${cid}?org=${org.id}`);
    await console.sees("Participants");
    const entries = page.getByRole("list", { name: "Messages, newest first" }).locator("> li");
    return { console, page, entries, first: entries.first() };
  }

  test("a conversation shows new messages, edits and recalls without a reload", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    await org.sent("alice", { cid, body: "before" });
    const { console, page, entries, first } = await openConversation(org, cid);
    await using _ = console;
    await console.sees("before");
    await console.sees("listening");
    const { server_mid } = await org.sent("bob", { cid, body: "the code is 1234" });
    await first.getByText("the code is 1234").waitFor();
    expect(await entries.count()).toBe(2);
    await org.edited("bob", { id: server_mid, body: "the code is 5678", x: { by: "phone" } });
    await first.getByText("the code is 5678").waitFor();
    expect(await first.innerText()).toContain("edited");
    await first.getByText('"by": "phone"').waitFor();
    await org.recalled("alice", cid, server_mid);
    await first.getByText("alice has taken back this message.").waitFor();
    expect(await page.content()).not.toContain("the code is");
    expect(await entries.count()).toBe(2);
    await org.sent("alice", { cid: await org.conversation(["alice"]), body: "elsewhere" });
    await org.sent("alice", { cid, body: "after" });
    await first.getByText("after").waitFor();
    expect(await entries.count()).toBe(3);
  });

  test("a message can be edited and taken back here, and its participants hear it", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const { server_mid: id } = await org.sent("alice", { cid, body: "at noon", x: { parcel: 7 } });
    using bob = await org.socket("bob");
    const { console, page, first } = await openConversation(org, cid);
    await using _ = console;
    await console.sees("listening");
    const dialog = page.getByRole("dialog");

    await page.getByRole("button", { name: "Edit “at noon”" }).focus();
    await page.keyboard.press("Enter");
    await dialog.getByText("The message keeps its custom parameters.").waitFor();
    expect(await dialog.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    await dialog.getByLabel("Text").fill("");
    await dialog.getByText("A message without attachments needs a text.").waitFor();
    await dialog.getByLabel("Text").fill("at one");
    await console.expectAccessible("editing");
    await dialog.getByRole("button", { name: "Save" }).click();
    await first.getByText("at one").waitFor();
    await dialog.waitFor({ state: "detached" }); // which then moves the focus, and may be after the event
    expect((await bob.next()).message_edit).toMatchObject({ id, from: "alice", body: "at one", x: { parcel: 7 } });

    await page.getByRole("button", { name: "Take back “at one”" }).focus();
    await page.keyboard.press("Enter");
    await dialog.getByText("Nobody can bring it back.").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await org.history(cid)).toHaveLength(1);

    await page.getByRole("button", { name: "Take back “at one”" }).click();
    const by = dialog.getByLabel("Taken back by (user)");
    expect(await by.inputValue()).toBe("alice");
    await by.fill("mallory");
    await dialog.getByRole("button", { name: "Take back" }).click();
    await dialog.getByText("sender_not_participant").waitFor();
    await by.fill("bob");
    await console.expectAccessible("taking back");
    await dialog.getByRole("button", { name: "Take back" }).click();
    await first.getByText("bob has taken back this message.").waitFor();
    await dialog.waitFor({ state: "detached" });
    await page.waitForFunction(() => document.activeElement?.textContent === "bob has taken back this message.");
    expect((await bob.next()).message_delete).toMatchObject({ ids: [id], from: "bob" });
    expect(await org.history(cid)).toEqual([]);
  });

  test("a message shows each of its recipients by name, and who has it", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    await herald().admin("PUT", org.path("users", "bob"), { name: "Bob Baker" });
    using _alice = await org.socket("alice");
    using bob = await org.socket("bob");
    const { server_mid } = await org.sent("alice", { cid, body: "hello" });
    await bob.request("ack", { ids: [server_mid] });
    const { console, page, first } = await openConversation(org, cid);
    await using _ = console;
    await first.getByText("Who has it").click();
    await first.getByText("2 of 3").waitFor();
    await first.getByText("Each recipient").click();
    const users = first.getByRole("list", { name: "Each recipient" }).getByRole("listitem");
    await users.getByText("acknowledged").waitFor();
    const shown = (await users.allInnerTexts()).map((text) =>
      text
        .replace(/\d\d:\d\d:\d\d\.\d{3}/, "T")
        .split(/\s+/)
        .join(" "),
    );
    expect(shown).toEqual([
      "alice T delivered",
      "Bob Baker bob T acknowledged",
      "carol missing Why? carol does not have it",
    ]);
    await console.expectAccessible("the recipients");
    await page.getByLabel("Recipients").selectOption("Who does not have it");
    await users.getByText("alice").waitFor({ state: "detached" });
    await users.getByText("carol", { exact: true }).waitFor();
    expect(await users.count()).toBe(1);
  });

  test("a key is offered only what it may do: no changes, the messages of its senders, or no live view", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    await org.sent("alice", { cid, body: "of alice" });
    await org.sent("bob", { cid, body: "of bob" });
    const scopes = ["directory:read", "history:read"];
    const { key: reading } = await createKey(herald(), { scopes, organization: org.id });
    {
      const { console, page, entries } = await openConversation(org, cid, { key: reading });
      await using _ = console;
      await console.sees("of bob");
      expect(await page.getByRole("button", { name: /Edit|Take back/ }).count()).toBe(0);
      expect(await page.getByText("listening").count()).toBe(0);
      await org.sent("alice", { cid, body: "a third" });
      await page.getByRole("button", { name: "Refresh" }).click();
      await console.sees("a third");
      expect(await entries.count()).toBe(3);
    }
    const { key: changing } = await createKey(herald(), {
      scopes: [...scopes, "message:edit"],
      organization: org.id,
      allowed_senders: ["bob"],
    });
    const { console, page } = await openConversation(org, cid, { key: changing });
    await using _ = console;
    await console.sees("of bob");
    const buttons = page.getByRole("button", { name: /^(Edit|Take back) “/ });
    const offered = await buttons.evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
    expect(offered).toEqual(["Take back “a third”", "Edit “of bob”", "Take back “of bob”", "Take back “of alice”"]);
    await page.getByRole("button", { name: "Take back “of alice”" }).click();
    expect(await page.getByLabel("Taken back by (user)").inputValue()).toBe("bob");
    await page.getByRole("dialog").getByRole("button", { name: "Take back" }).click();
    await page.getByText("of alice", { exact: true }).waitFor({ state: "detached" });
    expect((await org.history(cid)).map(({ body }) => body)).not.toContain("of alice");
  });

  test("a conversation whose feed was broken shows what came meanwhile", async () => {
    const server = await startHerald();
    const org = await createOrganization(server);
    const cid = await org.conversation(["alice"]);
    await org.sent("alice", { cid, body: "before" });
    const { console, page, entries } = await openConversation(org, cid, { server });
    await using _ = console;
    await console.sees("listening");
    await console.sees("before");
    await page.route("**/events?**", (route) => route.abort());
    await server.kill();
    await console.sees("connection lost, retrying");
    const port = new URL(server.url).port;
    await using again = await startHerald({ dataDir: server.dataDir, env: { HERALD_PORT: port } });
    await (await createOrganization(again, org.id)).sent("alice", { cid, body: "meanwhile" });
    expect(await entries.count()).toBe(1);
    await page.unroute("**/events?**");
    await console.sees("listening");
    await console.sees("meanwhile");
    expect(await entries.count()).toBe(2);
    await again.stop();
  });
});
