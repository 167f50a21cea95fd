import { expect, test } from "bun:test";
import { defaultPayloadLimits } from "../../contract/limits.ts";
import type { ToolAnswer } from "../../contract/mcp/results.ts";
import { createMcpThread } from "./mcp-thread.ts";

const call = (method: string, params: object = {}) => ({
  headers: [
    ["content-type", "application/json"],
    ["accept", "application/json, text/event-stream"],
  ] as [string, string][],
  body: { jsonrpc: "2.0", id: 1, method, params },
  reach: { scopes: ["*" as const], org: null },
});
const tool = call("tools/call", { name: "getOwnKey", arguments: {} });
const answered = async (): Promise<ToolAnswer> => ({ status: 200, text: '{"id":null}' });

test("a request makes its calls, and is answered; one that fails to make them rejects, and others go on", async () => {
  const speak = createMcpThread({ limits: defaultPayloadLimits });
  const wanted: unknown[] = [];
  const makeCall = (one: unknown) => {
    wanted.push(one);
    return answered();
  };
  const [first, failed, last] = await Promise.allSettled([
    speak(tool, makeCall),
    speak(tool, () => Promise.reject(new Error("no call"))),
    speak(tool, makeCall),
  ]);
  expect(failed).toMatchObject({ status: "rejected", reason: { message: "no call" } });
  for (const outcome of [first, last])
    expect(outcome).toMatchObject({ status: "fulfilled", value: { status: 200, contentType: "application/json" } });
  expect(wanted).toEqual([
    { method: "GET", target: "/admin/self" },
    { method: "GET", target: "/admin/self" },
  ]);
});

test("a thread that hangs is ended, and the next request begins another", async () => {
  const hasHung = createMcpThread({ limits: defaultPayloadLimits, mayTakeMs: 1 }); // it begins for longer
  await expect(hasHung(tool, answered)).rejects.toMatchObject({ code: "unavailable" });
  await expect(hasHung(tool, answered)).rejects.toMatchObject({ code: "unavailable" });
});

test("a thread that nobody needs ends, and the next request begins another", async () => {
  const speak = createMcpThread({ limits: defaultPayloadLimits, keptMs: 1 });
  for (let round = 0; round < 3; round++) expect(await speak(tool, answered)).toMatchObject({ status: 200 });
});

test("at most 256 requests wait", async () => {
  const speak = createMcpThread({ limits: defaultPayloadLimits });
  const { promise, resolve } = Promise.withResolvers<ToolAnswer>();
  const waiting = Array.from({ length: 256 }, () => speak(tool, () => promise));
  await expect(speak(tool, answered)).rejects.toMatchObject({ code: "unavailable" });
  resolve(await answered());
  for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);
  expect(await speak(tool, answered)).toMatchObject({ status: 200 });
});
