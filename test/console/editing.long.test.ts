import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { useHerald } from "../harness/servers/herald.ts";
import { createKey } from "../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";
import { hooksOf, startReceiver } from "../harness/servers/receiver.ts";
import { findChromium, launchChromium, type Visit, visit } from "./browser.ts";

const chromium = findChromium();
const herald = useHerald({ env: { HERALD_WEBHOOK_ALLOW_PRIVATE: "1" } });

describe.if(chromium !== undefined)("creating, changing and deleting in the console", () => {
  let browser: Browser;
  let console: Visit;
  let page: Page;
  let org: Organization;
  let writes: string[];
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
    org = await createOrganization(herald());
    console = await visit(browser, herald(), { width: 380 });
    page = console.page;
    await console.signIn();
    writes = [];
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (request.method() !== "GET") writes.push(`${request.method()} ${decodeURIComponent(pathname)}`);
    });
  });
  afterAll(async () => {
    await console[Symbol.asyncDispose]();
    await browser.close();
  });

  /** Goes to a page of the organization, in the same session. */
  const go = async (path: string, title: string) => {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#/${path}?org=${org.id}`);
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
  };
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  const inDialog = (name: string) => page.getByRole("dialog").getByRole("button", { name, exact: true });
  const field = (name: string) => page.getByRole("dialog").getByRole("textbox", { name });
  const closed = () => page.getByRole("dialog").waitFor({ state: "detached" });
  const rowsOf = (table: string) => page.getByRole("table", { name: table }).locator("tbody").getByRole("row");
  /** Confirms the deletion of what the page is about, and waits for the list that it leads to. */
  const deleteIt = async (title: string) => {
    await press("Delete");
    await inDialog("Delete").click();
    await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
  };

  test("a webhook: what is wrong stands at its field, its secret is shown once, and what has failed is posted again", async () => {
    let status = 410;
    using receiver = startReceiver(() => new Response(null, { status }));
    await go("webhooks", "Webhooks");
    await console.sees("No webhooks");
    await press("New webhook");
    await inDialog("Create the webhook").click();
    await page.waitForFunction(() => document.activeElement?.getAttribute("aria-invalid") === "true");
    await field("Id").fill("push");
    await field("Posts to").fill("ftp://example.com");
    await inDialog("Create the webhook").click();
    await page.locator('[aria-invalid="true"]').and(field("Posts to")).waitFor();
    await console.expectAccessible("a new webhook, with a mistake");
    await field("Posts to").fill(receiver.url);
    await field("Waits (seconds)").fill("1");
    writes = [];
    await inDialog("Create the webhook").dblclick();
    receiver.secrets.push(await field("Secret").inputValue());
    expect(writes).toEqual([`PUT ${org.path("webhooks", "push")}`]);
    await inDialog("I have saved it").click();
    await rowsOf("Webhooks").getByText("push").waitFor();
    await press("New webhook");
    await field("Id").fill("push");
    await field("Posts to").fill("https://example.com");
    await inDialog("Create the webhook").click();
    await page.getByRole("dialog").getByText("Another webhook has this id.").waitFor();
    await inDialog("Cancel").click();

    const cid = await org.conversation(["alice", "bob"], "parcel news");
    await org.sent("alice", { cid, body: "nobody is here" });
    await hooksOf(org).deliveriesWhen("push", ([one]) => one?.state === "failed");
    status = 204;
    await page.getByRole("link", { name: "push" }).click();
    await press("Switch on");
    await press("Redeliver all failed");
    await inDialog("Redeliver").click();
    await page.getByRole("dialog").getByText("1 of 1 is posted again.").waitFor();
    await console.expectAccessible("failed deliveries, posted again");
    await hooksOf(org).deliveriesWhen("push", ([one]) => one?.state === "delivered"); // the list is read once, on closing
    await inDialog("Close").click();
    await page.getByRole("list", { name: "Deliveries" }).getByText("delivered", { exact: true }).waitFor();

    await press("Edit");
    await page.getByRole("checkbox", { name: "users.presence" }).check();
    await inDialog("Save").click();
    await page
      .getByText(/message\.unreached.*users\.presence/)
      .first()
      .waitFor();
    await press("New secret");
    await inDialog("Make a new secret").click();
    expect(await field("Secret").inputValue()).toStartWith("whsec_");
    await inDialog("I have saved it").click();
    await deleteIt("Webhooks");
    await console.sees("No webhooks");
  });

  test("a user is created, named and deleted", async () => {
    await go("users", "Users");
    await press("New user");
    await field("Id").fill("alice");
    await inDialog("Create the user").click();
    await page.getByRole("dialog").getByText("Another user has this id.").waitFor();
    await field("Id").fill("dora");
    await field("Name").fill("x".repeat(300));
    await inDialog("Create the user").click();
    await page.locator('[aria-invalid="true"]').and(field("Name")).waitFor();
    await field("Name").fill("Dora");
    writes = [];
    await inDialog("Create the user").dblclick();
    await closed();
    expect(writes).toEqual([`PUT ${org.path("users", "dora")}`]);
    await rowsOf("Users").filter({ hasText: "Dora" }).waitFor();
    await press("Created");
    await console.expectAccessible("Users, one of them new");
    await rowsOf("Users").first().getByRole("link", { name: "Dora" }).click();
    await press("Change name");
    await field("Name").fill("Dora May");
    await inDialog("Save").click();
    await console.sees("Dora May");
    await deleteIt("Users");
    await rowsOf("Users").filter({ hasText: "alice" }).waitFor();
    expect(await rowsOf("Users").filter({ hasText: "dora" }).count()).toBe(0);
  });

  test("a conversation is created, named and deleted, and its participants come and go", async () => {
    await go("conversations", "Conversations");
    await press("New conversation");
    await field("Id").fill("lunch");
    await field("Participants").fill("alice\nbob");
    await console.expectAccessible("a new conversation");
    await inDialog("Create the conversation").click();
    await closed();
    await rowsOf("Conversations").getByRole("link", { name: "lunch" }).click();
    await press("Change name");
    await field("Name").fill("Lunch break");
    await inDialog("Save").click();
    await console.sees("Lunch break");
    await page.getByLabel("Add (user)").fill("erik");
    await press("Add");
    await press("Remove erik");
    await inDialog("Remove").click();
    await page.getByRole("button", { name: "Remove erik" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Remove bob" }).waitFor();
    await console.expectAccessible("a conversation with buttons for its participants");
    await press("Change name");
    await herald().admin("DELETE", org.path("conversations", "lunch"));
    await field("Name").fill("Dinner");
    await inDialog("Save").click();
    await page.getByRole("dialog").getByText("conversation_not_found").waitFor();
    await inDialog("Cancel").click();
    expect((await herald().admin("GET", org.path("conversations", "lunch"))).status).toBe(404);
    await go("conversations/parcel%20news", "parcel news");
    await deleteIt("Conversations");
    await console.sees("No conversations yet");
  });

  test("an organization is created, limited and deleted", async () => {
    await go("organizations", "Organizations");
    const id = `${org.id}-two`;
    await press("New organization");
    await field("Id").fill(id);
    await inDialog("Create the organization").click();
    await closed();
    await rowsOf("Organizations").getByRole("link", { name: id, exact: false }).click();
    await press("Change name and limits");
    await field("Name").fill("Branch office");
    await field("Connections").fill("many");
    await inDialog("Save").click();
    await page.getByRole("dialog").getByText("Enter a whole number, or nothing.").waitFor();
    await console.expectAccessible("limits of an organization, one of them wrong");
    await field("Connections").fill("50");
    await inDialog("Save").click();
    await console.sees("0 of 50");
    await page.getByRole("main").getByText("Branch office").waitFor();
    await console.expectAccessible("an organization");
    await press("Delete");
    expect(await inDialog("Delete").isDisabled()).toBe(true);
    await field("To confirm, type the id").fill(id);
    await inDialog("Delete").click();
    await page.getByRole("heading", { level: 1, name: "Organizations", exact: true }).waitFor();
    await rowsOf("Organizations").getByRole("link", { name: org.id }).waitFor();
    expect(await rowsOf("Organizations").getByRole("link", { name: id }).count()).toBe(0);
    expect((await herald().admin("GET", `/admin/organizations/${id}`)).status).toBe(404);
  });

  test("a key that only reads is offered nothing of it", async () => {
    await org.conversation(["alice"], "parcel news");
    const { key } = await createKey(herald(), { scopes: ["directory:read"], organization: org.id });
    await using reader = await visit(browser, herald());
    await reader.signIn(key);
    const offered = reader.page.getByRole("button", { name: /^(New|Change|Delete|Add|Remove)/ });
    for (const title of ["Conversations", "Users", "Organizations"]) {
      await reader.open(title);
      const list = reader.page.getByRole("table", { name: title });
      await list.getByRole("link").first().click();
      await reader.page.getByRole("heading", { level: 1, name: `${title} /` }).waitFor();
      await reader.sees(/created/);
      expect(await offered.count()).toBe(0);
    }
  });
});
