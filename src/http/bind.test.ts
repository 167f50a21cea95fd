import { expect, test } from "bun:test";
import { Hono } from "hono";
import { z } from "zod";
import { HeraldError } from "../contract/errors/errors.ts";
import { defineOperation, named } from "../contract/operations/operation.ts";
import { nextTurn } from "../lib/event-loop/next-turn.ts";
import { createThreadScheduler } from "../lib/event-loop/thread-scheduler.ts";
import { type Caller, unrestricted } from "../services/keys/permissions.ts";
import { createBind } from "./bind.ts";
import type { Router } from "./call/exchange.ts";
import { newCall, type Runtime } from "./calls.ts";

const runtime: Runtime = { requestIP: () => ({ address: "192.0.2.1" }), timeout: () => undefined };
const most = 40; // calls begun per turn of the event loop

const { note } = named({
  note: defineOperation({
    method: "post",
    path: "/notes",
    tag: "Messages",
    summary: "notes",
    body: z.strictObject({ organizationId: z.string(), text: z.string() }),
    scope: "any",
    limitsItself: true,
    answers: { 204: { description: "noted" } },
  }),
});

/**
 * A server with one operation, and the organizations whose calls it has begun. A key is `<org>`, or `any` for a key of
 * no organization.
 */
function serve() {
  const app: Router = new Hono();
  const begun: string[] = [];
  const requests: Request[] = [];
  const bind = createBind({
    app,
    authentication: {
      async authenticate(key): Promise<Caller> {
        const org = key === "any" ? null : (key ?? null);
        return {
          keyId: `key of ${org}`,
          rights: { ...unrestricted, org },
          secretExpiresAt: undefined,
          digest: undefined,
        };
      },
    },
    rateLimit: {
      admit(keyId) {
        if (keyId === "key of refused") throw new HeraldError("rate_limited");
      },
      charge: () => undefined,
    },
    use: {
      know: () => undefined,
      admitRequest: () => undefined,
      admitOnceKnown: () => undefined,
      chargeRequest: () => undefined,
    },
    thread: createThreadScheduler(),
    audit: { record: async () => undefined, note: () => undefined },
    clientAddress: () => "192.0.2.1",
    longAnswers: { bodyOf: (content) => content },
    limits: { requestBytes: 1_048_576, jsonDepth: 10, idleSeconds: 30 },
    redact: (text) => text,
    onError: (error) => {
      throw error;
    },
  });
  bind(note, async ({ body }) => {
    begun.push(body.organizationId);
    return { status: 204 };
  });
  return {
    begun,
    bodiesDropped: () => requests.filter(({ bodyUsed }) => bodyUsed).length,
    call(organizationId: string, { key = organizationId, text = "" } = {}) {
      const request = new Request("http://herald.test/notes", {
        method: "POST",
        headers: { "Admin-Api-Key": key, "Content-Type": "application/json" },
        body: JSON.stringify({ organizationId, text }),
      });
      requests.push(request);
      return app.fetch(request, newCall(request, { from: runtime }));
    },
  };
}

test.each([undefined, "any"])(
  "many calls of one organization do not delay a call of another, with key %p",
  async (key) => {
    const { begun, call } = serve();
    const calls = Array.from({ length: 10 * most }, () => call("crowd", key === undefined ? {} : { key }));
    calls.push(call("other", key === undefined ? {} : { key }));
    await nextTurn();
    expect(begun).toContain("other");
    expect(begun.length).toBeLessThanOrEqual(2 * most);
    await Promise.all(calls);
    expect(begun).toHaveLength(10 * most + 1);
  },
);

test("fewer calls with long bodies are begun per turn", async () => {
  const { begun, call } = serve();
  const calls = Array.from({ length: most }, () => call("crowd", { text: "x".repeat(60_000) }));
  await nextTurn();
  await nextTurn();
  expect(begun.length).toBeLessThan(most / 4);
  await Promise.all(calls);
});

test("refusals take turns like calls, and drop the bodies of those that wait", async () => {
  const { begun, bodiesDropped, call } = serve();
  let refused = 0;
  const refusals = Array.from({ length: 10 * most }, async () => {
    const { status } = await call("refused");
    expect(status).toBe(429);
    refused++;
  });
  const other = call("other");
  await nextTurn();
  expect(begun).toEqual(["other"]);
  expect(refused).toBeLessThanOrEqual(2 * most);
  expect(bodiesDropped()).toBeGreaterThanOrEqual(10 * most - refused);
  await Promise.all([other, ...refusals]);
});
