import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { findChromium, launchChromium } from "../console/browser.ts";
import { secondsSince, useNewcomer } from "./newcomer.ts";

setDefaultTimeout(180_000);

const chromium = findChromium();

describe.skipIf(chromium === undefined)("a newcomer with the page on files and an empty folder", () => {
  const { blocks, run, openDemo } = useNewcomer("docs/how-to/send-files.md");
  const commands = blocks.flatMap(({ how, text }) => (how === "run" ? [text] : []));
  const sends = commands.findIndex((text) => text.includes("/admin/message"));
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(() => browser.close());

  test("sees a picture that curl has sent", async () => {
    const beganAt = performance.now();
    await run("npm start").waitFor(/"msg":"listening"/, 30_000);
    const bob = await openDemo(browser);
    const sentAt = performance.now();
    const sent = run(...commands.slice(0, sends + 1));
    expect([await sent.ended, sent.output]).toEqual([0, expect.stringContaining('"ask"')]);
    await bob.getByRole("img", { name: "photo.png" }).waitFor();
    await bob
      .page()
      .waitForFunction(
        () => [...document.images].length === 3 && [...document.images].every((image) => image.naturalWidth > 0),
      );
    console.log(
      `the first picture: ${secondsSince(beganAt)} s from the first step, ${secondsSince(sentAt)} s from the upload`,
    );
  });
});
