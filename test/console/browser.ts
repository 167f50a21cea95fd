import { expect } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { DEADLINE_MS } from "../harness/deadline.ts";
import { reportMissing } from "../harness/engines/installed.ts";
import type { Herald } from "../harness/servers/herald.ts";

/** Finds Chromium; reports what is skipped if there is none. */
export function findChromium(): string | undefined {
  const found = ["chromium", "chromium-browser", "google-chrome"].map((name) => Bun.which(name)).find(Boolean);
  return found ?? reportMissing("Chromium", "chromium");
}

/** Starts Chromium without its sandbox, as tests may run as root; it opens only our own pages. */
export async function launchChromium(executablePath: string): Promise<Browser> {
  return await chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

/**
 * Opens pages in a Chromium whose user allows no site data: each read of `localStorage` and `sessionStorage` throws. Its profile
 * is removed with it.
 */
export function chromiumWithoutStorage(executablePath: string): Pick<Browser, "newContext"> & Disposable {
  const profile = mkdtempSync(join(tmpdir(), "herald-chromium-"));
  mkdirSync(join(profile, "Default"));
  const preferences = { profile: { default_content_setting_values: { cookies: 2 } } };
  writeFileSync(join(profile, "Default/Preferences"), JSON.stringify(preferences));
  return {
    newContext: (options) =>
      chromium.launchPersistentContext(profile, { ...options, executablePath, args: ["--no-sandbox"] }),
    [Symbol.dispose]: () => rmSync(profile, { recursive: true, force: true }),
  };
}

/** The screen on which the console is shown. */
export type Screen = { width: number; colorScheme: "light" | "dark" };

/** Phone and desktop, light and dark. */
export const screens: Screen[] = [380, 1280].flatMap((width) =>
  (["light", "dark"] as const).map((colorScheme) => ({ width, colorScheme })),
);

/** A page of the console, and what it did. */
export type Visit = {
  page: Page;
  /** The URLs of all requests so far, and what Chromium reports of errors and policy violations. */
  requests: readonly string[];
  complaints: readonly string[];
  /** Types the key and waits for the overview. */
  signIn(key?: string): Promise<void>;
  /** Presses the link of a page, which is in the menu on a phone. */
  choosePage(title: string): Promise<void>;
  /** Goes to a page by its link, and waits for its heading. */
  open(title: string): Promise<void>;
  /** Waits until this text is visible. */
  sees(text: string | RegExp): Promise<void>;
  /**
   * Expects that nothing is wider than the screen, and that axe finds nothing serious or critical in what is shown. In
   * light mode with all rules; in dark mode with those about contrast, as only colours differ.
   */
  expectAccessible(what: string): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

type AxeResults = {
  violations: { id: string; impact: string | null; nodes: { target: string[]; failureSummary: string }[] }[];
};

/**
 * Opens a page of the console, by default the first one, in a context of its own. At its end, nothing may have left the
 * server or violated its policy.
 */
export async function visit(
  browser: Pick<Browser, "newContext">,
  herald: Pick<Herald, "url" | "key">,
  screen: Partial<Screen> & { path?: string } = {},
): Promise<Visit> {
  const { width = 1280, colorScheme = "light", path = "/console" } = screen;
  const origin = new URL(herald.url).origin;
  const context: BrowserContext = await browser.newContext({
    viewport: { width, height: width < 500 ? 800 : 900 },
    colorScheme,
    reducedMotion: "reduce",
    hasTouch: width < 500,
  });
  context.setDefaultTimeout(DEADLINE_MS);
  const page = await context.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    // Chromium reports every status above 399, some of which the tests provoke.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(message.text());
  });
  await page.goto(origin + path);
  const sees: Visit["sees"] = async (text) => {
    await page.getByText(text).first().waitFor({ state: "visible" });
  };
  const choosePage: Visit["choosePage"] = async (title) => {
    const menu = page.getByRole("button", { name: "Menu", includeHidden: true });
    await menu.waitFor({ state: "attached" });
    if (await menu.isVisible()) await page.getByRole("button", { name: "Menu", expanded: false }).click();
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: title, exact: true }).click();
  };
  return {
    page,
    requests,
    complaints,
    sees,
    async signIn(key = herald.key) {
      await page.getByLabel("API key", { exact: true }).fill(key);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    },
    choosePage,
    async open(title) {
      await choosePage(title);
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
    },
    async expectAccessible(what) {
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect({ what, beyond }).toEqual({ what, beyond: 0 });
      await page.evaluate(axe.source);
      const options = { resultTypes: ["violations"], iframes: false };
      const { violations } = await page.evaluate(
        async (options) => {
          const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<AxeResults> } };
          return await axe.run(options);
        },
        colorScheme === "dark" ? { ...options, runOnly: ["color-contrast", "link-in-text-block"] } : options,
      );
      const bad = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      const told = bad.flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => [id, target.join(" "), failureSummary]),
      );
      expect({ what, told }).toEqual({ what, told: [] });
    },
    async [Symbol.asyncDispose]() {
      await page.unrouteAll({ behavior: "ignoreErrors" }); // a handler that is under way would fail after the test
      await context.close();
      expect(requests.filter((address) => !address.startsWith(`${origin}/`) && !/^(data|blob):/.test(address))).toEqual(
        [],
      );
      expect(complaints).toEqual([]);
    },
  };
}
