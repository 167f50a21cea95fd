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
});
