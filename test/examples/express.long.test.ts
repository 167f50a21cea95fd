import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { hasRegistry } from "../harness/engines/installed.ts";
import { startHerald, useHerald } from "../harness/servers/herald.ts";
import type { Project } from "../packages/project.ts";
import { installExample, startExample } from "./example.ts";

setDefaultTimeout(120_000);

const herald = useHerald({ env: { HERALD_DEMO: "1" }, oneNode: "only an empty database gets the demo" });

describe.skipIf(!hasRegistry())("the Express example", () => {
  let project: Project;
  beforeAll(() => {
    project = installExample("express");
  });
  afterAll(() => project[Symbol.dispose]());

  const start = (env: Record<string, string>) =>
    startExample(project, ["node", "server.js"], {
      env: { PORT: "0", HERALD_URL: herald().url, HERALD_ADMIN_API_KEY: herald().key, ...env },
      address: /http:\/\/127\.0\.0\.1:\d+/,
    });

  test("an order that is placed twice is told once", async () => {
    await using shop = await start({});
    const place = () => fetch(`${shop.url}/users/user-123/orders/456`, { method: "POST" });
    const [first, second] = [await place(), await place()];
    expect([first.status, second.status]).toEqual([201, 201]);
    const { order, message } = (await first.json()) as { order: string; message: string };
    expect(order).toBe("456");
    expect(await second.json()).toEqual({ order, message });
    const { body } = await herald().admin<{ items: { _id: string; body: string }[] }>(
      "GET",
      "/admin/organizations/demo/conversations/welcome/messages?limit=2",
    );
    expect(body.items.filter(({ body }) => body === "user-123 has placed order 456.").map(({ _id }) => _id)).toEqual([
      message,
    ]);
  });

  test("what cannot be part of an id is the caller's mistake", async () => {
    await using shop = await start({});
    for (const order of ["4".repeat(200), "4%0A5", "%FF"]) {
      const answer = await fetch(`${shop.url}/users/u/orders/${order}`, { method: "POST" });
      expect({ order, status: answer.status }).toEqual({ order, status: 400 });
    }
  });

  test("what Herald refuses is told to the operator, and not to the caller", async () => {
    await using shop = await start({ HERALD_ADMIN_API_KEY: "wrong" });
    const answer = await fetch(`${shop.url}/users/u/orders/1`, { method: "POST" });
    expect([answer.status, await answer.json()]).toEqual([500, { error: "the message could not be sent" }]);
    expect(shop.program.output).toContain("401 unauthorized");
  });

  test("while Herald is away, the caller is told to try again", async () => {
    await using gone = await startHerald();
    await using shop = await start({ HERALD_URL: gone.url });
    await gone.stop();
    const answer = await fetch(`${shop.url}/users/u/orders/1`, { method: "POST" });
    expect([answer.status, answer.headers.get("Retry-After")]).toEqual([503, "5"]);
    expect(shop.program.output).toContain("Check the address, and that the server runs.");
  });
});
