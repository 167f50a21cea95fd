import { join } from "node:path";
import type { Browser } from "playwright-core";
import { launchChromium } from "../console/browser.ts";
import { createToken, type Device, type Seat } from "./device.ts";
import type { Ledger } from "./recorder.ts";

/** The site of somebody who uses Herald, at an origin of its own. */
export type Site = { origin: string; [Symbol.dispose](): void };

/** Bundles the page and serves it. */
export async function serveSite(): Promise<Site> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "page/main.tsx")],
    target: "browser",
    define: { "process.env.NODE_ENV": '"development"' }, // so that StrictMode mounts twice
  });
  const script = await outputs[0]?.text();
  const html = "<!doctype html><title>Soak</title><script type=module src=main.js></script>";
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      const isScript = url.endsWith(".js");
      const headers = { "Content-Type": isScript ? "text/javascript" : "text/html" };
      return new Response(isScript ? script : html, { headers });
    },
  });
  return { origin: server.url.origin, [Symbol.dispose]: () => void server.stop(true) };
}

type Tab = {
  uid: string;
  end(last: string[], ms: number): Promise<Ledger>;
  freeze(isFrozen: boolean): Promise<void>;
  unplug(isOffline: boolean): Promise<void>;
};

/** Starts Chromium, with a page for each client. It sleeps in two ways, in turn: its pages are frozen, or they have no network. */
export async function startBrowser(executablePath: string, { origin }: Site): Promise<Device> {
  const browser = await launchChromium(executablePath);
  const tabs: Tab[] = [];
  let sleeps = 0;
  const isFreezing = () => sleeps % 2 === 1;
  return {
    async listen(seats) {
      tabs.push(...(await Promise.all(seats.map((seat) => openTab(browser, origin, seat)))));
    },
    account: (last, ms) => Promise.all(tabs.map((tab) => tab.end(last[tab.uid] ?? [], ms))),
    async sleep() {
      sleeps += 1;
      await Promise.all(tabs.map((tab) => (isFreezing() ? tab.freeze(true) : tab.unplug(true))));
    },
    async wake() {
      await Promise.all(tabs.map((tab) => (isFreezing() ? tab.freeze(false) : tab.unplug(false))));
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

async function openTab(browser: Browser, origin: string, seat: Seat): Promise<Tab> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const connected = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<{ last: string[]; ms: number }>();
  const given = Promise.withResolvers<Ledger>();
  const functions = {
    takePlace: () => seat,
    takeToken: () => createToken(seat),
    waitForEnd() {
      connected.resolve();
      return ended.promise;
    },
    give: (ledger: Ledger) => given.resolve(ledger),
  };
  for (const [name, perform] of Object.entries(functions)) await page.exposeFunction(name, perform);
  page.on("pageerror", (error) => {
    connected.reject(error);
    given.reject(error);
  });
  given.promise.catch(() => undefined); // reported by `end`
  await page.goto(origin);
  await connected.promise;
  const devtools = await context.newCDPSession(page);
  return {
    uid: seat.uid,
    end(last, ms) {
      ended.resolve({ last, ms });
      return given.promise;
    },
    freeze: async (isFrozen) =>
      void (await devtools.send("Page.setWebLifecycleState", { state: isFrozen ? "frozen" : "active" })),
    unplug: (isOffline) => context.setOffline(isOffline),
  };
}
