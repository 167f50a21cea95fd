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

type Load = { perSecond: number; seconds: number };

/** Sends at a steady rate, however long responses take. */
async function sendSteadily({ sent }: Organization, cid: string, { perSecond, seconds }: Load): Promise<number> {
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
async function watchFrames(page: Page): Promise<() => Promise<string>> {
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
  return async () => {
    const { gaps, tasks } = await page.evaluate(() => {
      const { noted } = globalThis as unknown as { noted: { gaps: number[]; tasks: number[]; isOver: boolean } };
      noted.isOver = true;
      return { gaps: noted.gaps.toSorted((left, right) => left - right), tasks: noted.tasks };
    });
    const blocked = tasks.reduce((sum, task) => sum + task, 0);
    return (
      `frames p50 ${ms(at(gaps, 0.5))}, p99 ${ms(at(gaps, 0.99))}, worst ${ms(gaps.at(-1) ?? 0)}; ` +
      `${tasks.length} long tasks of ${ms(blocked)}, worst ${ms(Math.max(0, ...tasks))}`
    );
  };
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

  test.each([
    { perSecond: 200, seconds: 10 },
    { perSecond: 500, seconds: 5 },
  ])("shows $perSecond events a second in Live, all counted, on a bounded page that still responds", async (load) => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    await using console_ = await visit(browser, herald());
    const { page } = console_;
    await console_.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await console_.open("Live");
    await console_.sees("listening");
    const stop = await watchFrames(page);
    const sending = sendSteadily(org, cid, load);
    await console_.sees(/message \d\d\d/); // early, so that more come while it is paused, however slow the page
    const clickedAt = performance.now();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    const paused = performance.now() - clickedAt;
    await console_.sees(/\d new/);
    await page.getByRole("button", { name: "Resume" }).click();
    const took = await sending;
    const total = load.perSecond * load.seconds;
    await console_.sees(`${total.toLocaleString("en-GB")} received`);
    await eventually(
      async () => (await page.getByRole("button", { name: `message ${total}`, exact: false }).count()) || undefined,
      "the last message on top",
    );
    const rows = await page.getByRole("region", { name: "Events, newest first" }).getByRole("listitem").count();
    const figures = await stop();
    console.log(`console: ${total} events in ${took.toFixed(1)} s; ${figures}; pause after ${ms(paused)}`);
    expect(rows).toBeLessThan(60);
  });

  test("shows a conversation of 50 messages a second, on a bounded page", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    await using console_ = await visit(browser, herald());
    const { page } = console_;
    await console_.signIn();
    await page.goto(`${new URL(herald().url).origin}/console#/conversations/${cid}?org=${org.id}`);
    await console_.sees("listening");
    const stop = await watchFrames(page);
    const took = await sendSteadily(org, cid, { perSecond: 50, seconds: 10 });
    await console_.sees("message 500");
    const figures = await stop();
    const rows = await page.getByRole("list", { name: "Messages, newest first" }).locator("> li").count();
    console.log(`console: a conversation of 500 messages in ${took.toFixed(1)} s; ${figures}; ${rows} rows`);
    expect(rows).toBeLessThan(60);
  });

  test("lists 5,000 users, and asks about the presence of those on the screen alone", async () => {
    const org = await createOrganization(herald());
    const uids = Array.from({ length: 5_000 }, (_, index) => `user-${String(index).padStart(5, "0")}`);
    await org.conversation(uids);
    await using console_ = await visit(browser, herald());
    const { page, requests } = console_;
    await console_.signIn();
    await page.getByLabel("Organization").selectOption(org.id);
    await console_.open("Users");
    await console_.sees("user-00000");
    const before = requests.length;
    const stop = await watchFrames(page);
    await eventually(async () => {
      await page.keyboard.press("End");
      return (await page.getByText("user-04999").count()) || undefined;
    }, "the last user");
    const read = requests.length - before;
    const asked = () => requests.filter((address) => address.includes("uids="));
    const [last, one] = await eventually(async () => {
      const [last, one] = asked().slice(-2);
      return last !== undefined && last === one && last.includes("user-04999") ? [last, one] : undefined;
    }, "the same request for the users on the screen, twice");
    const rows = await page.getByRole("table", { name: "Users" }).getByRole("row").count();
    console.log(`console: 5,000 users in ${read} requests; ${await stop()}; ${rows} rows`);
    const between = requests.slice(
      requests.lastIndexOf(last, requests.lastIndexOf(one) - 1) + 1,
      requests.lastIndexOf(one),
    );
    expect(between.filter((address) => !address.includes("count=true"))).toEqual([]);
    for (const address of asked()) expect(address.split("user-").length).toBeLessThan(60);
    expect(read).toBeLessThan(60);
    expect(rows).toBeLessThan(60);
  });
});
