import { expect, test } from "bun:test";
import type { Node } from "../../sdk/types.ts";
import { createNodeHistory } from "./node-history.ts";

function node(id: string, sends: number, more: Partial<Node> = {}): Node {
  const figures = {
    sends,
    send_errors: 0,
    deliveries: sends * 3,
    slow_consumers_cut: 0,
    repairs: 0,
    latency_ms: { p50: 1, p99: sends === 0 ? null : 4 },
    event_loop_delay_ms: { p50: 1, p99: 2 },
    bus: "up" as const,
  };
  const times = { started_at: "", reported_at: "", lag_checked_at: null };
  const counts = { connections: 2, organizations: 1, lag_events: sends };
  return { id, name: null, version: "", url: "", ...times, ...counts, state: "live", figures, ...more };
}

test("rates are what all nodes counted since the look before, per second", () => {
  const history = createNodeHistory();
  history.add([node("a", 100), node("b", 10)], 0);
  history.add([node("a", 120), node("b", 20)], 2000);
  expect(history.samples()[0]).toMatchObject({ sends: null, deliveries: null, connections: 4, lag: 100, p99: 4 });
  expect(history.samples()[1]).toMatchObject({ sends: 15, deliveries: 45, errors: 0, lag: 120 });
});

test("a node that is new, came back or fell silent makes no rate jump or fall below nothing", () => {
  const history = createNodeHistory();
  history.add([node("a", 100)], 0);
  history.add([node("a", 110), node("b", 1_000_000)], 1000);
  history.add([node("a", 120, { state: "silent" }), node("b", 1_000_005)], 2000);
  history.add([node("a", 0), node("b", 1_000_010)], 3000);
  expect(history.samples().map(({ sends }) => sends)).toEqual([null, 10, 5, 5]);
});

test("only the last minutes are kept", () => {
  const history = createNodeHistory();
  for (let second = 0; second < 100; second++) history.add([node("a", second)], second * 1000);
  expect(history.samples()).toHaveLength(60);
  expect(history.samples()[0]).toMatchObject({ connections: 2, lag: 40, sends: 1 });
});
