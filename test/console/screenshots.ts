import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import type { Organization } from "../harness/servers/organization.ts";
import type { Screen } from "./browser.ts";

const folder = resolve(import.meta.dir, "../../docs/console");

/** The pictures used by the documentation; others are only for inspection. */
const inDocs = new Set([
  "overview-1280-light",
  "compose-1280-light",
  "compose-380-dark",
  "conversation-1280-light",
  "scheduled-1280-light",
  "proposals-1280-light",
  "live-1280-dark",
  "live-380-light",
  "keys-1280-light",
  "demo-1280-light",
  "demo-380-dark",
]);

/**
 * Takes screenshots: with `CONSOLE_SCREENSHOTS=1`, the documentation's pictures into `docs/console`; with
 * `CONSOLE_SCREENSHOTS=<folder>`, every page on every screen into that folder.
 */
export async function shoot(page: Page, name: string, { width, colorScheme }: Screen): Promise<void> {
  const wanted = process.env.CONSOLE_SCREENSHOTS;
  const file = `${name}-${width}-${colorScheme}`;
  if (wanted === undefined || wanted === "" || (wanted === "1" && !inDocs.has(file))) return;
  await page.screenshot({
    path: join(wanted === "1" ? folder : wanted, `${file}.png`),
    animations: "disabled",
    fullPage: width < 500 && name !== "audit", // which is as long as the log
  });
}

/**
 * Sends messages at a varying rate for some seconds, so that the pictures show something. Does nothing without
 * pictures.
 */
export async function playTraffic(org: Organization, cid: string, seconds: number): Promise<void> {
  if ((process.env.CONSOLE_SCREENSHOTS ?? "") === "") return;
  for (let turn = 0; turn < seconds * 5; turn++) {
    const count = Math.round(6 + 5 * Math.sin(turn / 14) + 4 * Math.random());
    await Promise.all(
      Array.from({ length: count }, () => org.sent("alice", { cid, body: "Your parcel is on its way." })),
    );
    await Bun.sleep(200);
  }
}
