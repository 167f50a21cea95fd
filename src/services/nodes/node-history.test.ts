import { expect, test } from "bun:test";
import { nodeExample } from "../../contract/documents/examples.ts";
import type { NodeStatus } from "../../contract/nodes.ts";
import { createNodeHistory } from "./node-history.ts";

/** A node that has reported so many sends and refused tokens, and twice as many calls over a limit, at so many milliseconds of its own clock. */
function node(id: string, reportedAtMs: number, sends: number, tokens?: number): NodeStatus {
  const { state: _, refusals: __, problems: ___, ...status } = nodeExample;
  return {
    ...status,
    id,
    reported_at: new Date(reportedAtMs).toISOString(),
    ...(tokens !== undefined && { refusals: { keys: 0, tokens, rate_limited: tokens * 2 } }),
    figures: { ...status.figures, sends, deliveries: sends * 2 },
  };
}

function useHistory() {
  let now = 0;
  const history = createNodeHistory({ clock: { now: () => now } });
  return {
    read: history.read,
    add(at: number, ...live: NodeStatus[]) {
      now = at;
      history.add(live);
    },
  };
}

test("rates are what the counters of all nodes grew by, each by its own clock", () => {
  const history = useHistory();
  history.add(0, node("a", 0, 100, 7), node("b", 900_000, 10));
  history.add(15_000, node("a", 15_000, 250, 10), node("b", 920_000, 30));
  expect(history.read().samples).toMatchObject([
    { at: new Date(0).toISOString(), sends: null, deliveries: null, refused_tokens: null, nodes: 2 },
    { sends: 11, deliveries: 22, send_errors: 0, refused_tokens: 0.2, rate_limited: 0.4, latency_ms: { p99: 6.2 } },
  ]);
  expect(history.read().read_at).toBe(new Date(15_000).toISOString());
});

test("a sample is taken at most every 15 s, give or take a beat, and the last 120 are kept", () => {
  const history = useHistory();
  for (let at = 0; at <= 45 * 60_000; at += 1_500) history.add(at, node("a", at, at));
  const { samples } = history.read();
  expect(samples).toHaveLength(120);
  const between = samples.slice(1).map(({ at }, index) => Date.parse(at) - Date.parse(samples[index]?.at ?? ""));
  expect(new Set(between)).toEqual(new Set([15_000]));
});

test("a node that is new, has started again or was away makes no rate jump or fall below nothing", () => {
  const history = useHistory();
  history.add(0, node("a", 0, 1_000));
  history.add(15_000, node("a", 15_000, 10), node("new", 15_000, 5_000));
  history.add(30_000, node("new", 30_000, 5_015));
  history.add(300_000, node("new", 300_000, 90_000));
  expect(history.read().samples.map(({ sends }) => sends)).toEqual([null, null, 1, null]);
});

test("a clock that is set back begins anew, so that times are in order", () => {
  const history = useHistory();
  history.add(60_000, node("a", 60_000, 1));
  history.add(0, node("a", 60_000, 1));
  expect(history.read().samples.map(({ at }) => Date.parse(at))).toEqual([0]);
});
