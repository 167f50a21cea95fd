import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { eventually } from "../harness/deadline.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";
import { proposing } from "../harness/servers/proposing.ts";
import { findChromium, launchChromium, visit } from "./browser.ts";

const chromium = findChromium();
const herald = useHerald();

/** A layout shift as Chromium reports it: how much has moved how far, and what. */
type Shift = { value: number; moved: string[] };

describe.if(chromium !== undefined)("the console while it loads", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  test.each(["in order", "the last one first"])("moves nothing when answers arrive one by one, %s", async (order) => {
    const org = await createOrganization(herald());
    const server_mid = await fill(org);
    using _alice = await org.socket("user-1", { device_id: "phone" });
    await using console = await visit(browser, herald(), { width: 380 });
    const { page } = console;
    await console.signIn();
    await page.addInitScript(noteShifts);
    const pending = await answerOneByOne(page, order === "in order");
    const look = async (address: string, last: string) => {
      await page.goto("about:blank");
      await page.goto(`${new URL(herald().url).origin}/console#/${address}?${new URLSearchParams({ org: org.id })}`);
      await console.sees(last);
      await eventually(() => pending() === 0 || undefined, `all answers to ${address}`);
      await nextFrames(page);
      const shifts = await page.evaluate(() => (globalThis as unknown as { shifts: Shift[] }).shifts);
      const sum = shifts.reduce((total, { value }) => total + value, 0);
      expect({ address, sum, isStill: sum < 0.01, shifts }).toMatchObject({ address, isStill: true });
    };
    await look("overview", "Your key");
    await look("users", "user-10");
    await look("users/user-1", "Connected now");
    await look("users/user-2", "knows of no earlier connection");
    await look("conversations/room", "said");
    await look(`messages/${server_mid}`, "Who has it");
    await look("system-messages/notice", "Who has it");
    await look("proposals", "as proposed");
    await look("webhooks/hook", "Deliveries");
  });

  test("shows a user whose connections cannot be read", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    await using console = await visit(browser, herald(), { width: 380 });
    const { page } = console;
    await console.signIn();
    const refusal = JSON.stringify({ type: "", title: "", status: 403, detail: "no", code: "insufficient_scope" });
    const refused = page.waitForRequest("**/connections");
    await page.route("**/connections", (route) =>
      route.fulfill({ status: 403, contentType: "application/problem+json", body: refusal }),
    );
    await page.goto(`${new URL(herald().url).origin}/console#/users/alice?org=${org.id}`);
    await refused;
    await page.getByRole("heading", { name: "Deliveries" }).waitFor();
    await console.sees("The inbox is empty");
  });
});

/** One of each thing whose page reads more than one answer. Returns the id of a message. */
async function fill(org: Organization): Promise<string> {
  const uids = Array.from({ length: 30 }, (_, index) => `user-${index}`);
  await org.conversation(uids, "room");
  for (const uid of uids) await org.herald.admin("PUT", org.path("users", uid), { name: `The name of ${uid}` });
  const { server_mid } = await org.sent("user-1", { cid: "room", body: "said" });
  await org.sentSystem("user-1", { id: "notice", uids: uids.slice(0, 20), keep_days: 1 });
  const { put, messageOf } = proposing(org);
  for (const pid of ["first", "second"])
    await put(pid, { request: messageOf("user-1", { cid: "room", body: "as proposed" }), reason: "because" });
  await org.herald.admin("PUT", org.path("webhooks", "hook"), { url: "https://example.com/hook" });
  return server_mid;
}

/** Notes each layout shift of the page, with what has moved. */
function noteShifts(): void {
  type Entry = PerformanceEntry & { value: number; sources: { node: Node | null }[] };
  const shifts: Shift[] = [];
  Object.assign(globalThis, { shifts });
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries() as Entry[])
      shifts.push({ value, moved: sources.map(({ node }) => node?.textContent?.slice(0, 60) ?? "") });
  }).observe({ type: "layout-shift", buffered: true });
}

/** Waits until what has arrived is on the screen. */
async function nextFrames(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
  );
}

/** Lets answers of the API arrive alone, each when the one before is on the screen. Returns how many are still to come. */
async function answerOneByOne(page: Page, isInOrder: boolean): Promise<() => number> {
  const held: (() => Promise<void>)[] = [];
  let isAnswering = false;
  const answer = async () => {
    if (isAnswering) return;
    isAnswering = true;
    for (;;) {
      // Fails for a page that has been left.
      await nextFrames(page).catch(() => undefined);
      const next = isInOrder ? held.shift() : held.pop();
      if (next === undefined) break;
      await next().catch(() => undefined);
    }
    isAnswering = false;
  };
  await page.route("**/admin/**", async (route) => {
    if (route.request().url().includes("/events?")) return await route.continue(); // a stream
    held.push(async () => {
      const response = await route.fetch();
      await route.fulfill({ response });
    });
    void answer();
  });
  return () => held.length + (isAnswering ? 1 : 0);
}
