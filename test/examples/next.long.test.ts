import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { findChromium, launchChromium } from "../console/browser.ts";
import { freePort } from "../harness/engines/free-port.ts";
import { hasRegistry } from "../harness/engines/installed.ts";
import { startHerald } from "../harness/servers/herald.ts";
import type { Project } from "../packages/project.ts";
import { installExample, startExample } from "./example.ts";
import { postUnfitOrders, unfitOrders } from "./unfit-orders.ts";

setDefaultTimeout(180_000);

const chromium = findChromium();

describe.if(chromium !== undefined && hasRegistry())("the Next.js example", () => {
  let project: Project;
  let browser: Browser;
  beforeAll(async () => {
    project = installExample("next");
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.close();
    project[Symbol.dispose]();
  });

  test("an order that is placed twice is shown once in a page that is open, and after a failure it can be placed again", async () => {
    project.run(["npm", "run", "build"]);
    const port = String(freePort());
    const origin = `http://localhost:${port}`;
    const ours = { HERALD_DEMO: "1", HERALD_ALLOWED_ORIGINS: origin, HERALD_PORT: String(freePort()) };
    const herald = await startHerald({ env: ours });
    await using shop = await startExample(project, ["node_modules/.bin/next", "start", "--port", port], {
      env: { HERALD_URL: herald.url, HERALD_ADMIN_API_KEY: herald.key },
      address: /Ready/,
    });
    const place = (order: string) => fetch(`${origin}/api/orders`, { method: "POST", body: JSON.stringify({ order }) });
    try {
      const page = await browser.newPage();
      const complaints: string[] = [];
      page.on("pageerror", (error) => complaints.push(String(error)));
      await page.goto(origin);
      await page.getByText("connected", { exact: true }).waitFor();
      const answers = [await place("456"), await place("456")];
      expect(answers.map(({ status }) => status)).toEqual([201, 201]);
      const [first, second] = await Promise.all(answers.map((answer) => answer.json()));
      expect(second).toEqual(first);
      expect(await postUnfitOrders(`${origin}/api/orders`)).toEqual(unfitOrders.map(() => 400));
      expect((await place("457")).status).toBe(201);
      await page.getByText("bob: bob has placed order 457.").waitFor();
      expect(await page.getByText("bob: bob has placed order 456.").count()).toBe(1);
      expect(complaints).toEqual([]);
    } finally {
      await herald[Symbol.asyncDispose]();
    }
    const refused = await place("458");
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([503, "5"]);
    expect(shop.program.output).toContain("Check the address, and that the server runs.");
  });
});
