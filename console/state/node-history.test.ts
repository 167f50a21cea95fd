import { expect, test } from "bun:test";
import type { Node } from "../../sdk/types.ts";
import { createNodeHistory } from "./node-history.ts";

/** A node that has reported so many sends, at so many milliseconds of its own clock. */
function node(id: string, sends: number, reportedAtMs: number, more: Partial<Node> = {}): Node {
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
  const times = { started_at: "", reported_at: new Date(reportedAtMs).toISOString(), lag_checked_at: null };
  const counts = { connections: 2, organizations: 1, lag_events: sends };
  return { id, name: null, version: "", url: "", ...times, ...counts, state: "live", figures, ...more };
}

test("rates are what all nodes counted between their reports, per second", () => {
  const history = createNodeHistory();
  history.add([node("a", 100, 0), node("b", 10, 900_000)], 0);
  history.add([node("a", 120, 2_000), node("b", 20, 902_000)], 2_300);
  expect(history.samples()[0]).toMatchObject({ sends: null, deliveries: null, connections: 4, lag: 100, p99: 4 });
  expect(history.samples()[1]).toMatchObject({ sends: 15, deliveries: 45, errors: 0, lag: 120 });
});

test("a steady rate stays the same, however looks and reports fall together", () => {
  const history = createNodeHistory();
  const reports = [0, 0, 2_000, 2_000, 6_000, 6_000, 8_000]; // of a node that always sends three a second
  reports.forEach((reportedAt, turn) => {
    history.add([node("a", (reportedAt / 1_000) * 3, reportedAt)], turn * 1_500);
  });
  expect(history.samples().map(({ sends }) => sends)).toEqual([null, null, 3, 3, 3, 3, 3]);
});

test("a node that is new, came back or fell silent makes no rate jump or fall below nothing", () => {
  const history = createNodeHistory();
  history.add([node("a", 100, 0)], 0);
  history.add([node("a", 110, 1_000), node("b", 1_000_000, 0)], 1000);
  history.add([node("a", 120, 2_000, { state: "silent" }), node("b", 1_000_005, 1_000)], 2000);
  history.add([node("a", 0, 3_000), node("b", 1_000_010, 2_000)], 3000);
  expect(history.samples().map(({ sends }) => sends)).toEqual([null, 10, 5, 5]);
});

test("what a node counted while nobody looked is no rate of now", () => {
  const history = createNodeHistory();
  history.add([node("a", 0, 0)], 0);
  history.add([node("a", 90_000, 60_000)], 60_000);
  history.add([node("a", 90_006, 62_000)], 62_000);
  expect(history.samples().map(({ sends }) => sends)).toEqual([null, null, 3]);
});

test("only the last two minutes are kept, whether or not somebody looked meanwhile", () => {
  const history = createNodeHistory();
  for (let second = 0; second <= 200; second += 2) history.add([node("a", second, second * 1000)], second * 1000);
  expect(history.samples()).toHaveLength(60);
  history.add([node("a", 1_000, 1_000_000)], 1_000_000);
  expect(history.samples()).toHaveLength(1);
});

const serverSample = { nodes: 1, connections: 9, lag_events: 0, deliveries: 1, send_errors: 0, slow_consumers_cut: 0 };

/** What a server remembers: so many sends per second, so many milliseconds after the Unix epoch. */
const remembered = (readAt: number, sends: [at: number, rate: number][]) => ({
  read_at: new Date(readAt).toISOString(),
  samples: sends.map(([at, rate]) => ({
    ...serverSample,
    at: new Date(at).toISOString(),
    sends: rate,
    refused_keys: 1,
    refused_tokens: null,
    rate_limited: null,
    latency_ms: { p50: 1, p99: 2 },
  })),
});

test("what the server remembers comes before what the tab has seen, whatever the server's clock says", () => {
  const history = createNodeHistory();
  history.add([node("a", 0, 0)], 50_000);
  history.remember(
    remembered(900_000, [
      [870_000, 7],
      [885_000, 8],
      [899_000, 9],
    ]),
    60_000,
  );
  const sends = () => history.samples().map(({ at, sends }) => [at, sends]);
  expect(sends()).toEqual([
    [30_000, 7],
    [45_000, 8],
    [59_000, 9],
  ]);
  history.add([node("a", 10, 2_000)], 52_000);
  expect(sends()).toEqual([
    [30_000, 7],
    [45_000, 8],
    [52_000, 5],
  ]);
  expect(history.samples()[0]).toMatchObject({ connections: 9, refused: 1, p99: 2 });
});

test("what the tab did not see meanwhile, the server did", () => {
  const history = createNodeHistory();
  history.add([node("a", 0, 0)], 0);
  history.remember(
    remembered(60_000, [
      [15_000, 1],
      [30_000, 2],
    ]),
    60_000,
  );
  history.add([node("a", 0, 60_000)], 60_000);
  history.add([node("a", 0, 62_000)], 62_000);
  expect(history.samples().map(({ at }) => at)).toEqual([15_000, 30_000, 62_000]);
});
