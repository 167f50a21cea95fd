import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { eventually } from "../harness/deadline.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";
import { findChromium, launchChromium, visit } from "./browser.ts";

const chromium = findChromium();
const herald = useHerald({
  env: {
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_REQUESTS_BURST: "0",
  },
});

const mostBytes = 150_000;
const perSecond = 500;
const seconds = 5;

/** Counts the bytes on the wire for the console's own files, including headers, as Chromium reports them. */
async function countBytes(page: Page): Promise<() => number> {
  const cdp = await page.context().newCDPSession(page);
  const ours = new Set<string>();
  let bytes = 0;
  cdp.on("Network.requestWillBeSent", ({ requestId, request }) => {
    if (new URL(request.url).pathname.startsWith("/console")) ours.add(requestId);
  });
  cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (ours.has(requestId)) bytes += encodedDataLength;
  });
  await cdp.send("Network.enable");
  await cdp.send("Network.clearBrowserCache");
  return () => bytes;
}

/** Sends at a steady rate, however long responses take. */
async function sendSteadily({ sent }: Organization, cid: string): Promise<number> {
  const startedAt = performance.now();
  const answers: Promise<unknown>[] = [];
  while (answers.length < perSecond * seconds) {
    const due = Math.min(perSecond * seconds, ((performance.now() - startedAt) / 1000) * perSecond);
    while (answers.length < due) answers.push(sent("alice", { cid, body: `message ${answers.length + 1}` }));
    await Bun.sleep(5);
  }
  await Promise.all(answers);
  return (performance.now() - startedAt) / 1000;
}

/** Records the gaps between frames and the page's long tasks until `stop`. */
async function watchFrames(page: Page): Promise<() => Promise<{ gaps: number[]; tasks: number[] }>> {
  await page.evaluate(() => {
    const noted = { gaps: [] as number[], tasks: [] as number[], isOver: false };
    Object.assign(globalThis, { noted });
    new PerformanceObserver((list) => noted.tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
      type: "longtask",
    });
    let before = performance.now();
    const frame = (now: number) => {
      noted.gaps.push(now - before);
      before = now;
      if (!noted.isOver) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  return () =>
    page.evaluate(() => {
      const { noted } = globalThis as unknown as { noted: { gaps: number[]; tasks: number[]; isOver: boolean } };
      noted.isOver = true;
      return { gaps: noted.gaps, tasks: noted.tasks };
    });
}

const at = (sorted: number[], share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
const ms = (value: number) => `${Math.round(value)} ms`;

describe.if(chromium !== undefined)("the console under load", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
  });

  test("loads all of its pages in less than 150 KB", async () => {
    const org = await createOrganization(herald());
    const beganAt = performance.now();
    await using console_ = await visit(browser, herald()); // the first visit to this server, which bundles the console for it
    const { page } = console_;
    await page.getByLabel("API key").waitFor();
    const firstEver = performance.now() - beganAt;
    const bytes = await countBytes(page);
    const startedAt = performance.now();
    await page.reload();
    await page.getByLabel("API key").waitFor();
    const shown = performance.now() - startedAt;
    const first = bytes();
    await console_.signIn();
    const signedIn = performance.now();
    await page.reload();
    await console_.sees("Nodes");
    const overview = performance.now() - signedIn;
    await page.getByLabel("Organization").selectOption(org.id);
    for (const title of ["Compose", "Scheduled", "Live", "Conversations", "Users", "Keys", "Audit"])
      await console_.open(title);
    await page.getByLabel("Since").waitFor();
    const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0);
    console.log(
      `console: ${Math.round(first / 1000)} KB to sign in, ${Math.round(bytes() / 1000)} KB for all pages; ` +
        `shown after ${ms(shown)} (${ms(firstEver)} for the first visitor of a server), the overview after ${ms(overview)}, first paint ${ms(paint)}`,
    );
    expect(first).toBeGreaterThan(10_000);
    expect(bytes()).toBeLessThan(mostBytes);
  });

  test("shows 500 events a second in Live, all counted, on a bounded page that still responds", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    await using console_ = await visit(browser, herald());
    const { page } = console_;
    await console_.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await console_.open("Live");
    await console_.sees("listening");
    const stop = await watchFrames(page);
    const sending = sendSteadily(org, cid);
    await console_.sees(/message 1\d\d\d/);
    const rows = await page.getByRole("region", { name: "Events, newest first" }).getByRole("listitem").count();
    const clickedAt = performance.now();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    const paused = performance.now() - clickedAt;
    await console_.sees(/\d waiting/);
    await page.getByRole("button", { name: "Resume" }).click();
    const took = await sending;
    const total = perSecond * seconds;
    await console_.sees(`${total.toLocaleString("en-GB")} received`);
    await eventually(
      async () => (await page.getByRole("button", { name: `message ${total}`, exact: false }).count()) || undefined,
      "the last message on top",
    );
    const { gaps, tasks } = await stop();
    gaps.sort((left, right) => left - right);
    console.log(
      `console: ${total} events in ${took.toFixed(1)} s; frames p50 ${ms(at(gaps, 0.5))}, p99 ${ms(at(gaps, 0.99))}, ` +
        `worst ${ms(gaps.at(-1) ?? 0)}; ${tasks.length} long tasks, worst ${ms(Math.max(0, ...tasks))}; pause after ${ms(paused)}`,
    );
    expect(rows).toBeLessThan(60);
  });
});
