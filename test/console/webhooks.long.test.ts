import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { hooksOf, startReceiver } from "../harness/servers/receiver.ts";
import { findChromium, launchChromium, visit } from "./browser.ts";

const chromium = findChromium();
const herald = useHerald({ env: { HERALD_WEBHOOK_ALLOW_PRIVATE: "1" } });

describe.if(chromium !== undefined)("webhooks, in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  test("a webhook is tested, and a delivery is seen with its request and posted again", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using receiver = startReceiver();
    await hooksOf(org).toReceiver("push", receiver);
    await org.sent("alice", { cid, body: "nobody is here" });
    await receiver.first(1);
    await hooksOf(org).deliveriesWhen("push", ([one]) => one?.state === "delivered"); // the list is read once

    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await console.open("Webhooks");
    await page.getByRole("link", { name: "push" }).click();
    const deliveries = page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
    await deliveries.getByText("delivered", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Post a test" }).click();
    await deliveries.getByText("webhook.test", { exact: true }).waitFor();
    const message = deliveries.filter({ hasText: "message.unreached" });
    await message.getByText("Request and answer").click();
    await message.getByText('"body": "nobody is here"').waitFor();
    await message.getByRole("button", { name: /^Redeliver/ }).click();
    const [first, , third] = await receiver.first(3);
    expect(third?.webhook.id).toBe(first?.webhook.id ?? "");
    await page.getByText("nobody is here").first().waitFor();
    await console.expectAccessible("a webhook");
  });

  test("a webhook whose receiver answers 500 is failing, since when and why, and what waits for its next try is not hidden", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    let status = 500;
    const later = { "Retry-After": "300" }; // no next try ends what is seen, however slow the machine
    using receiver = startReceiver(() => new Response(status === 500 ? "not today" : null, { status, headers: later }));
    const other = await createOrganization(herald());
    const hooks = hooksOf(org);
    await hooks.toReceiver("push", receiver);
    await org.sent("alice", { cid, body: "nobody is here" });
    const [waiting] = await hooks.deliveriesWhen("push", ([one]) => one?.tries === 1);
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(other.id);
    await page.getByRole("link", { name: `The webhook push of ${org.id} fails` }).waitFor();
    await console.expectAccessible("a webhook that fails in another organization");
    await page.getByRole("link", { name: `The webhook push of ${org.id} fails` }).click();
    await page.getByRole("alert").getByText("not today").waitFor();
    await console.open("Webhooks");
    await page.getByRole("table", { name: "Webhooks" }).getByText("failing since").waitFor();
    await console.expectAccessible("webhooks, one of which fails");
    await page.getByRole("link", { name: "push" }).click();
    const alarm = page.getByRole("alert");
    await alarm.getByText("the receiver answered 500").waitFor();
    const [since] = await alarm.locator("time").all();
    expect(await since?.getAttribute("datetime")).toBe(waiting?.last_try?.at ?? "");
    expect(await page.getByText("active", { exact: true }).count()).toBe(0);
    await page.getByLabel("State").selectOption("failed");
    await console.sees("None has failed for good");
    await page.getByRole("button", { name: "Show what waits for its next try" }).click();
    const deliveries = page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
    await deliveries.getByText(/^waits for try \d+$/).waitFor();
    await console.expectAccessible("a webhook that fails");
    status = 204;
    await page.getByRole("button", { name: "Post a test" }).click();
    await page.getByText("active", { exact: true }).waitFor();
    expect(await alarm.count()).toBe(0);
    await page.getByRole("button", { name: "Redeliver all failed" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Redeliver" }).click();
    await page.getByRole("dialog").getByText("1 of 1 is posted again.").waitFor();
    await hooks.deliveriesWhen("push", (items) => items.every(({ state }) => state === "delivered"));
  });

  test("a webhook that is switched off shows its 410", async () => {
    const org = await createOrganization(herald());
    using receiver = startReceiver(() => new Response(null, { status: 410 }));
    const hooks = hooksOf(org);
    await hooks.toReceiver("push", receiver);
    const cid = await org.conversation(["alice", "bob"]);
    await org.sent("alice", { cid, body: "nobody is here" });
    await hooks.deliveriesWhen("push", ([one]) => one?.state === "failed");
    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await console.open("Webhooks");
    await page.getByRole("table", { name: "Webhooks" }).getByText("disabled").waitFor();
    await page.getByRole("link", { name: "push" }).click();
    await page.getByRole("alert").getByText("the receiver answered 410").waitFor();
    await console.expectAccessible("a webhook that is switched off");
  });

  test("*Stop* ends a run of *Redeliver all failed* after the delivery that is under way, and the next run posts the rest", async () => {
    const org = await createOrganization(herald());
    let status = 500;
    using receiver = startReceiver(() => new Response(null, { status, headers: { "Retry-After": "600" } }));
    const hooks = hooksOf(org);
    await hooks.toReceiver("push", receiver);
    const cid = await org.conversation(["alice", "bob"]);
    for (const body of ["one", "two", "three"]) await org.sent("alice", { cid, body });
    await hooks.deliveriesWhen("push", (all) => all.length === 3 && all.every(({ tries }) => tries === 1));
    status = 204;

    await using console = await visit(browser, herald());
    const { page } = console;
    await console.signIn();
    await page.goto(`${new URL(herald().url).origin}/console#/webhooks/push?org=${org.id}`);
    const posted: string[] = [];
    const [first, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route("**/redeliver", async (route) => {
      posted.push(route.request().url());
      first.resolve();
      await go.promise;
      await route.continue();
    });
    await page.getByRole("button", { name: "Redeliver all failed" }).click();
    const dialog = page.getByRole("dialog");
    const press = (name: string) => dialog.getByRole("button", { name, exact: true }).click();
    await press("Redeliver");
    await first.promise;
    await dialog.getByText("0 of 3 are posted again.").waitFor();
    await console.expectAccessible("a run that is under way");
    await press("Stop");
    await page.waitForFunction(() => document.querySelector("[aria-live]")?.textContent === "It stops");
    go.resolve();
    await dialog.getByText("1 of 3 is posted again. Stopped before the rest.").waitFor();
    expect(posted.length).toBe(1);
    await hooks.deliveriesWhen("push", (all) => all.filter(({ state }) => state === "delivered").length === 1);
    expect((await hooks.deliveries("push", "waiting")).length).toBe(2);
    await press("Continue");
    await dialog.getByText("2 of 2 are posted again.").waitFor();
    expect(new Set(posted).size).toBe(3);
    await press("Close");
    await hooks.deliveriesWhen("push", (all) => all.every(({ state }) => state === "delivered"));
  });
});
