import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { useHerald } from "../harness/servers/herald.ts";
import { chromiumWithoutStorage, findChromium, visit } from "./browser.ts";

const chromium = findChromium();
const herald = useHerald({ oneNode: "what one page shows of one node", env: { HERALD_DEMO: "1" } });

/** Otherwise the tests below would show nothing. */
async function expectNoStorage(page: Page): Promise<void> {
  const failures = await page.evaluate(() =>
    (["localStorage", "sessionStorage"] as const).map((name) => {
      try {
        return String(globalThis[name]);
      } catch (error) {
        return error instanceof DOMException ? error.name : "";
      }
    }),
  );
  expect(failures).toEqual(["SecurityError", "SecurityError"]);
}

describe.if(chromium !== undefined)("in a browser that allows no site data", () => {
  test("the console works until the page is loaded again, and then asks for the key again", async () => {
    using browser = chromiumWithoutStorage(chromium ?? "");
    await using console = await visit(browser, herald());
    await expectNoStorage(console.page);
    await console.sees("Sign in to the console");
    await console.signIn();
    await console.open("Keys");
    await console.page.reload();
    await console.sees("Sign in to the console");
    await console.sees("This browser stores nothing for this page");
    await console.page.getByLabel("API key", { exact: true }).fill(herald().key);
    await console.page.keyboard.press("Enter");
    await console.page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
    await console.page.getByRole("button", { name: "Sign out" }).click();
    await console.sees("Sign in to the console");
  });

  test("the demo works, too", async () => {
    using browser = chromiumWithoutStorage(chromium ?? "");
    await using demo = await visit(browser, herald(), { path: "/console/demo" });
    const { page } = demo;
    await expectNoStorage(page);
    await page.getByLabel("Admin API key").fill(herald().key);
    await page.keyboard.press("Enter");
    const bob = page.getByRole("region", { name: "Bob" });
    await bob.getByRole("status").filter({ hasText: "online" }).waitFor();
    await page.getByLabel("Message as Alice").fill("without storage");
    await page.keyboard.press("Enter");
    await bob.getByText("without storage").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Admin API key").waitFor();
  });
});
