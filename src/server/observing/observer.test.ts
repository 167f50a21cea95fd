import { expect, test } from "bun:test";
import { pino } from "pino";
import { type Call, newCall, type Runtime } from "../../http/calls.ts";
import { createGuard } from "../../lib/observing/guard.ts";
import { steadyClock, systemClock } from "../../lib/time/clock.ts";
import { messageOf } from "../../store/testing/log-suite.ts";
import { createObserver } from "./observer.ts";

const node = { nodeId: "n", clock: systemClock, steadyClock, guard: (work: () => void) => work() };
const request = new Request("http://herald.test/");
const runtime: Runtime = { requestIP: () => null, timeout: () => undefined };

function lines(level: string, ...calls: Partial<Call>[]): Record<string, unknown>[] {
  const written: string[] = [];
  const log = pino({ level, base: null, timestamp: false }, { write: (line) => void written.push(line) });
  const { onAnswer } = createObserver({ ...node, log });
  for (const call of calls)
    onAnswer({
      ...newCall(request, { from: runtime, route: { method: "POST", path: "/admin/message" } }),
      keyId: "a key",
      org: "an organization",
      requestId: "a request",
      status: 201,
      tookMs: 1.2345,
      ...call,
    });
  return written.map((line) => JSON.parse(line));
}

const levels = (level: string, ...calls: Partial<Call>[]) =>
  lines(level, ...calls).map(({ level: number }) => pino.levels.labels[Number(number)]);

test("a line holds the route but not the path, the status, the duration, and ids", () => {
  const route = { method: "DELETE", path: "/admin/organizations/{org}/users/{uid}" };
  expect(lines("info", { route, status: 204 })).toEqual([
    {
      level: 30,
      method: "DELETE",
      route: "/admin/organizations/{org}/users/{uid}",
      status: 204,
      duration_ms: 1.23,
      request_id: "a request",
      key_id: "a key",
      org: "an organization",
      msg: "request",
    },
  ]);
});

test("stored sends and successful probes are logged at debug, unless they took a second", () => {
  const probe = { route: { method: "GET", path: "/readyz" }, status: 200 };
  const scrape = { route: { method: "GET", path: "/metrics" }, status: 200 };
  const system = { route: { method: "POST", path: "/admin/message/system" } };
  expect(lines("info", {}, system, probe, scrape)).toEqual([]);
  expect(levels("debug", {}, system, probe, scrape)).toEqual(["debug", "debug", "debug", "debug"]);
  expect(levels("debug", { tookMs: 1000 }, { ...probe, tookMs: 1500 })).toEqual(["info", "info"]);
});

test("refusals are logged at info and failures at warn, even of sends and probes", () => {
  const probe = { route: { method: "GET", path: "/readyz" } };
  expect(levels("info", { status: 422 }, { ...probe, status: 503 }, { status: 507 })).toEqual(["info", "warn", "warn"]);
  const made = { route: { method: "PUT", path: "/admin/organizations/{org}" }, status: 201 };
  expect(levels("info", made)).toEqual(["info"]);
  expect(lines("silent", { status: 500 })).toEqual([]);
});

test("a counter or trace that fails fails no send, and is reported", () => {
  const errors: unknown[] = [];
  const guard = createGuard((error) => errors.push(error));
  const log = pino({ enabled: false });
  const broken = (): never => {
    throw new Error("no figures today");
  };
  const send = messageOf("o");
  const uncounting = createObserver({ ...node, log, guard, clock: { now: broken } });
  const uncounted = uncounting.observeCommits({ tracing: undefined, suspect: broken });
  uncounted.onFailure?.(new Error("the send failed"));
  expect(uncounted.onCommit([send], 1)(send)).toBeUndefined();
  const tracing = { onAppend: broken, onCommit: broken };
  const untraced = createObserver({ ...node, log, guard }).observeCommits({ tracing, suspect: broken });
  untraced.onAppend?.(send);
  expect(untraced.onCommit([send], 1)(send)).toMatchObject({ node: "n" });
  expect(errors.map(String)).toEqual(["Error: no figures today"]);
});
