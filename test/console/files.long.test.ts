import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Browser, Locator } from "playwright-core";
import { createAdmin } from "../../sdk/admin.ts";
import { eventually } from "../harness/deadline.ts";
import { type Herald, startHerald } from "../harness/servers/herald.ts";
import { findChromium, launchChromium, type Visit, visit } from "./browser.ts";
import { shoot } from "./screenshots.ts";

const chromium = findChromium();
const picture = new Uint8Array(readFileSync(join(resolve(import.meta.dir, "../.."), "docs/console/demo-380-dark.png")));
const script = "<svg xmlns='http://www.w3.org/2000/svg'><script>document.title = 'run'</script></svg>";

/** What a backend does for alice in the demo. */
function backendOf({ url, key }: Herald) {
  const admin = createAdmin({ url, key });
  return {
    ...admin,
    upload: (name: string, bytes: Uint8Array | string, contentType: string) =>
      admin.upload("demo", name, bytes, { contentType }),
    async send(body: string, ...attachments: { name: string; file_id?: string }[]) {
      const message = { cid: "welcome", body, attachments };
      const { ask } = await admin.sendMessage({ organizationId: "demo", senderId: "alice", message });
      return ask.server_mid;
    },
    recall: (id: string) =>
      admin.recallMessages({
        organizationId: "demo",
        senderId: "alice",
        messageDelete: { cid: "welcome", ids: [id], type: "all" },
      }),
  };
}

const widthOf = (image: Locator) => image.evaluate((one) => (one instanceof HTMLImageElement ? one.naturalWidth : 0));
const isDrawn = (image: Locator) =>
  eventually(async () => ((await widthOf(image)) > 0 ? true : undefined), "the picture to be drawn");

async function openDemo(visited: Visit, key: string): Promise<Locator> {
  await visited.page.getByLabel("Admin API key").fill(key);
  await visited.page.keyboard.press("Enter");
  const bob = visited.page.getByRole("region", { name: "Bob" });
  await bob.getByRole("status").filter({ hasText: "online" }).waitFor();
  return bob;
}

describe.if(chromium !== undefined)("the files of messages in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  test("the demo shows pictures as pictures, and other files as links, which it never runs", async () => {
    await using server = await startHerald({ env: { HERALD_DEMO: "1" } });
    const backend = backendOf(server);
    await using demo = await visit(browser, server, { path: "/console/demo" });
    const bob = await openDemo(demo, server.key);
    const [shot, drawing, page, broken] = await Promise.all([
      backend.upload("the demo.png", picture, "image/png"),
      backend.upload("drawing.svg", script, "image/svg+xml"),
      backend.upload("page.html", "<script>document.title = 'run'</script>", "text/html"),
      backend.upload("broken.jpg", "no picture", "image/jpeg"),
    ]);
    await backend.send("Look at this", { name: "the demo.png", file_id: shot.file_id });
    await isDrawn(bob.getByRole("img", { name: "the demo.png" }));
    const files = [drawing, page, broken].map(({ name, file_id }) => ({ name, file_id }));
    await backend.send("", ...files);
    for (const { name } of files) await bob.getByRole("link", { name }).waitFor();
    await eventually(async () => ((await bob.getByRole("img").count()) === 1 ? true : undefined), "one picture alone");
    const saved = demo.page.waitForEvent("download");
    await bob.getByRole("link", { name: "drawing.svg" }).press("Enter");
    expect((await saved).suggestedFilename()).toBe("drawing.svg");
    expect(readFileSync(await (await saved).path(), "utf8")).toBe(script);
    expect(await demo.page.title()).toBe("Herald demo");
    await demo.expectAccessible("the demo with files");
    await shoot(demo.page, "demo-files", { width: 1280, colorScheme: "light" });
  });

  test("the demo says what is not there: announced, taken back, removed; and asks for addresses anew", async () => {
    await using server = await startHerald({ env: { HERALD_DEMO: "1" } });
    const backend = backendOf(server);
    await using demo = await visit(browser, server, { width: 380, colorScheme: "dark", path: "/console/demo" });
    const bob = await openDemo(demo, server.key);
    const announced = await backend.send("Soon", { name: "later.png" });
    await bob.getByText("has not been uploaded yet").waitFor();
    const { message } = await backend.getMessage("demo", announced);
    await backend.putFile("demo", message.attachments?.[0]?.file_id ?? "", picture, { contentType: "image/png" });
    await bob.getByRole("button", { name: "Look again for later.png" }).press("Enter");
    await isDrawn(bob.getByRole("img", { name: "later.png" }));
    const note = await backend.upload("note.txt", "a note", "text/plain");
    const noted = await backend.send("Note", { name: "note.txt", file_id: note.file_id });
    const link = bob.getByRole("link", { name: "note.txt 6 B" });
    await link.waitFor();
    await demo.page.clock.install({ time: Date.now() + 10 * 60_000 });
    const saved = demo.page.waitForEvent("download");
    const askedAgain = demo.page.waitForRequest(
      (request) => request.method() === "HEAD" && request.url().includes(note.file_id),
    );
    await link.click();
    await askedAgain;
    expect(await (await saved).failure()).toBeNull();
    await backend.deleteFile("demo", message.attachments?.[0]?.file_id ?? "");
    await backend.recall(noted);
    await bob.getByText("has taken back this message").waitFor();
    expect(await link.count()).toBe(0);
    await demo.page.reload();
    await bob.getByText("or it was removed").waitFor();
    await demo.expectAccessible("the demo without files");
    await shoot(demo.page, "demo-no-files", { width: 380, colorScheme: "dark" });
  });

  test("the console uploads chosen files and sends them, and shows what a message names", async () => {
    await using server = await startHerald({ env: { HERALD_DEMO: "1" } });
    const backend = backendOf(server);
    await using console = await visit(browser, server);
    const { page } = console;
    await console.signIn();
    await console.open("Compose");
    await page.getByLabel("From (user)").fill("alice");
    await page.getByLabel("To (conversation)").fill("welcome");
    const choice = page.getByLabel("Upload files");
    await choice.focus();
    const unreachable = "**/files?name=drawing.svg";
    await page.route(unreachable, (route) => route.abort());
    await choice.setInputFiles([
      { name: "the demo.png", mimeType: "image/png", buffer: Buffer.from(picture) },
      { name: "drawing.svg", mimeType: "image/svg+xml", buffer: Buffer.from(script) },
    ]);
    await page.getByText("uploaded", { exact: true }).waitFor();
    const again = page.getByRole("button", { name: "Try again to upload drawing.svg" });
    await again.waitFor();
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await console.sees("is not uploaded; try again, or remove it");
    await page.unroute(unreachable);
    await again.press("Enter");
    await page.getByText("uploaded", { exact: true }).nth(1).waitFor();
    await console.expectAccessible("uploaded files");
    await shoot(page, "compose-files", { width: 1280, colorScheme: "light" });
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByRole("heading", { name: "Stored" }).waitFor();
    await backend.send("Soon", { name: "later.pdf" });
    const gone = await backend.upload("gone.txt", "gone", "text/plain");
    await backend.send("Gone", { name: "gone.txt", file_id: gone.file_id });
    await backend.deleteFile("demo", gone.file_id);

    await console.open("Conversations");
    await page.getByRole("link", { name: "welcome" }).click();
    await isDrawn(page.getByRole("img", { name: "the demo.png" }));
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download drawing.svg" }).press("Enter");
    expect((await saved).suggestedFilename()).toBe("drawing.svg");
    expect(readFileSync(await (await saved).path(), "utf8")).toBe(script);
    expect(await page.getByRole("img", { name: "drawing.svg" }).count()).toBe(0);
    await page.getByText("gone.txt was removed.").waitFor();
    await page.getByText("later.pdf is announced, but not uploaded yet.").waitFor();
    await console.expectAccessible("the files of a conversation");
    await shoot(page, "conversation-files", { width: 1280, colorScheme: "light" });
    expect(await page.title()).not.toBe("run");
  });
});
