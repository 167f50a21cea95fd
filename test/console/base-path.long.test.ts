import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { findNginx } from "../harness/engines/nginx.ts";
import { type PathProxy, startBelowPath } from "../harness/servers/below-path.ts";
import { findChromium, launchChromium, visit } from "./browser.ts";
import { shoot } from "./screenshots.ts";

const chromium = findChromium();
const nginx = findNginx();
const proxies: PathProxy[] = ["keeps it", "removes it"];
const screen = { width: 1280, colorScheme: "light" } as const;

describe.if(chromium !== undefined && nginx !== undefined)("behind a proxy, below a path", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  test.each(proxies)(
    "the console signs in, sends, shows what is live, and links to the reference: proxy %s",
    async (proxy) => {
      await using herald = await startBelowPath(nginx, proxy, { HERALD_DEMO: "1" });
      await using console = await visit(browser, { ...herald, url: herald.origin }, { path: "/herald/console" });
      const { page } = console;
      await console.signIn();
      await console.open("Live");
      await console.sees("Live");
      await console.open("Compose"); // whose script is loaded now
      await page.getByLabel("From (user)").fill("mallory");
      await page.getByLabel("To (conversation)").fill("welcome");
      await page.getByLabel("Text").fill("hello");
      await page.getByRole("button", { name: "Send" }).click();
      const link = page.getByRole("alert").getByRole("link", { name: "sender_not_participant" });
      expect(await link.getAttribute("href")).toBe("/herald/docs/errors#sender_not_participant");
      await page.getByLabel("From (user)").fill("alice");
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByRole("region", { name: "Sent" }).waitFor();
      await shoot(page, `below-path-${proxy.replace(" ", "-")}`, screen);
      await page.reload();
      await page.getByRole("heading", { level: 1, name: "Compose" }).waitFor(); // the key is kept
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("link", { name: "Reference" }).click();
      await page.getByRole("heading", { level: 1, name: "Herald" }).waitFor();
      await page.getByRole("navigation", { name: "Documents" }).getByRole("link", { name: "Errors" }).click();
      await page.getByRole("heading", { level: 1, name: "Errors" }).waitFor();
      expect(new URL(page.url()).pathname).toBe("/herald/docs/errors");
      const outside = console.requests.filter(
        (url) => url.startsWith("http") && !url.startsWith(`${herald.origin}/herald/`),
      );
      expect(outside).toEqual([]);
      await herald.node.stop();
    },
  );

  test.each(proxies)("the demo connects three users and shows a picture: proxy %s", async (proxy) => {
    await using herald = await startBelowPath(nginx, proxy, { HERALD_DEMO: "1" });
    await using demo = await visit(browser, { ...herald, url: herald.origin }, { path: "/herald/console/demo" });
    const { page } = demo;
    await page.getByLabel("Admin API key").fill(herald.key);
    await page.keyboard.press("Enter");
    const bob = page.getByRole("region", { name: "Bob" });
    await bob.getByRole("status").filter({ hasText: "online" }).waitFor();
    await page.getByLabel("Message as Alice").fill("below a path");
    await page.keyboard.press("Enter");
    await bob.getByText("below a path").waitFor();
    const { body: file } = await herald.http<{ file_id: string }>(
      "POST",
      "/admin/organizations/demo/files?name=dot.png",
      {
        headers: { "Admin-Api-Key": herald.key, "Content-Type": "image/png" },
        body: Buffer.from(dot, "base64"),
      },
    );
    const message = { cid: "welcome", attachments: [{ name: "dot.png", file_id: file.file_id }] };
    await herald.admin("POST", "/admin/message", { organizationId: "demo", senderId: "alice", message });
    await bob.getByRole("img", { name: "dot.png" }).waitFor();
    await shoot(page, `demo-below-path-${proxy.replace(" ", "-")}`, screen);
    await page.getByRole("link", { name: "Console" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor(); // with the same key
    await herald.node.stop();
  });
});

const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
