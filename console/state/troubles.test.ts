import { expect, test } from "bun:test";
import type { Node, NodeSample, Organization, ScheduledSend } from "../../sdk/types.ts";
import type { WebhookEndpoint } from "../../sdk/webhook-types.ts";
import { nodeExample } from "../../src/contract/documents/examples.ts";
import { failedLately, findTroubles, type ServiceFacts } from "./troubles.ts";

const readAt = Date.parse("2026-11-28T14:30:00.000Z");
const minutesAgo = (minutes: number) => new Date(readAt - minutes * 60_000).toISOString();

function node(name: string, more: Partial<Node> = {}): Node {
  return { ...nodeExample, id: name, name, state: "live", problems: [], ...more };
}

function sample(minutes: number, more: Partial<NodeSample> = {}): NodeSample {
  const quiet = {
    sends: 0,
    deliveries: 0,
    send_errors: 0,
    slow_consumers_cut: 0,
    refused_keys: 0,
    refused_tokens: 0,
    rate_limited: 0,
  };
  const counts = { nodes: 1, connections: 0, lag_events: 0, latency_ms: { p50: null, p99: null } };
  return { at: minutesAgo(minutes), ...quiet, ...counts, ...more };
}

const webhook = { id: "push", state: "active", disabled_at: null, failing: null } as WebhookEndpoint;

function troublesOf(more: Partial<ServiceFacts> & { samples?: NodeSample[] }) {
  const { samples = [], ...facts } = more;
  return findTroubles({
    nodes: [],
    history: { read_at: minutesAgo(0), samples },
    checks: {},
    asOf: undefined,
    organization: undefined,
    webhooks: [],
    failedSends: [],
    others: [],
    ...facts,
  });
}

test("nothing is wrong if all is well", () => {
  const quiet = [sample(2), sample(1), sample(0, { refused_tokens: 0.01 })];
  expect(troublesOf({ nodes: [node("a")], samples: quiet, webhooks: [webhook] })).toEqual([]);
});

test("what several nodes miss is one line, since the first of them misses it, with their names", () => {
  const bus = (minutes: number) => ({ problems: [{ kind: "bus" as const, since: minutesAgo(minutes) }] });
  const nodes = [node("a", bus(3)), node("b", bus(5)), node("c"), node("d", { state: "silent", ...bus(9) })];
  const troubles = troublesOf({ nodes });
  expect(troubles.map(({ what, since }) => [what, since])).toEqual([
    ["d is silent: it has crashed, hangs or is disconnected", nodeExample.reported_at],
    ["The bus is away: messages from other nodes arrive up to 5 s late (a, b)", minutesAgo(5)],
  ]);
  const { problems: _, ...old } = node("old", { figures: { ...nodeExample.figures, bus: "down" } });
  const [ofOld] = troublesOf({ nodes: [old] });
  expect([ofOld?.what, ofOld?.since]).toEqual([expect.stringMatching(/^The bus is away/), undefined]);
});

test("rates of the last five minutes tell of failing sends, refused keys and tokens, and calls over a limit, since they began", () => {
  const samples = [
    sample(25, { refused_keys: 1 }),
    sample(9, { send_errors: 2, refused_tokens: 3 }),
    sample(6, { send_errors: 2, refused_tokens: 3 }),
    sample(2, { send_errors: 4, refused_tokens: 1 }),
    sample(0),
  ];
  expect(troublesOf({ samples }).map(({ what, since, isBad }) => [what, since, isBad])).toEqual([
    ["Sends fail with 5xx: about 120 a minute", minutesAgo(9), true],
    ["User tokens are refused: about 30 a minute", minutesAgo(9), false],
  ]);
  expect(troublesOf({ samples: [sample(1, { refused_tokens: 1 / 15 })] })).toEqual([]); // a single token
  const [keys] = troublesOf({ samples: [sample(1, { refused_keys: 0.1 })] });
  expect(keys).toMatchObject({ what: "Calls without a valid key: about 6 a minute", remedy: { page: "audit" } });
  const [limited] = troublesOf({ samples: [sample(1, { rate_limited: 0.5 })] });
  expect(limited).toMatchObject({
    what: "Calls over a limit are refused with 429: about 30 a minute",
    since: minutesAgo(1),
    isBad: false,
    remedy: { docs: "configure#limits" },
  });
});

test("a lag is told while it lasts, since it began", () => {
  const samples = [sample(3, { lag_events: 5_000 }), sample(1, { lag_events: 2_000 })];
  expect(troublesOf({ nodes: [node("a", { lag_events: 2_000 })], samples })).toMatchObject([
    { what: "Deliveries lag: 2,000 stored events are not delivered yet", since: minutesAgo(3) },
  ]);
  expect(troublesOf({ nodes: [node("a")], samples })).toEqual([]);
});

test("the selected organization's webhooks, scheduled sends and limits are told, each with the page that mends it", () => {
  const failing = { since: minutesAgo(7), at: minutesAgo(1), status: 500, error: "the answer was 500" };
  const organization = {
    id: "acme",
    limits: { requests_per_second: 100, messages_per_second: 0, connections: null, stored_bytes: 1_000 },
    usage: { requests_per_second: 80, messages_per_second: 9, connections: 9, stored_bytes: 799 },
  } as Organization;
  const troubles = troublesOf({
    organization,
    webhooks: [
      { ...webhook, failing },
      { ...webhook, id: "gone", state: "disabled", disabled_at: minutesAgo(9) },
    ],
    failedSends: [{ send_at: minutesAgo(8) }, { send_at: minutesAgo(4) }] as ScheduledSend[],
  });
  expect(troubles.map(({ what, since, remedy }) => [what, since, remedy])).toEqual([
    ["The webhook gone is switched off", minutesAgo(9), { page: "webhooks", id: "gone" }],
    ["2 scheduled sends have failed in the last day", minutesAgo(8), { page: "scheduled", query: { state: "failed" } }],
    ["The webhook push fails: the answer was 500", minutesAgo(7), { page: "webhooks", id: "push" }],
    ["acme uses 80 % of its requests per second", undefined, { page: "organizations", id: "acme" }],
  ]);
});

test("while the nodes cannot be listed, the checks of the node that answers say what is wrong, since the last answer", () => {
  const checks = { node: "ok", store: "did not respond within 2 s" };
  expect(troublesOf({ checks, asOf: readAt })).toMatchObject([
    { what: "The store of the node that answers: did not respond within 2 s", since: minutesAgo(0), isBad: true },
  ]);
});

test("only sends that were due within the last day have failed lately", () => {
  const sends = [{ send_at: minutesAgo(25 * 60) }, { send_at: minutesAgo(23 * 60) }] as ScheduledSend[];
  expect(failedLately(sends, readAt)).toEqual(sends.slice(1));
});

test("a webhook that fails in another organization is told with its organization", () => {
  const failing = { since: minutesAgo(3), at: minutesAgo(1), status: 500, error: "the receiver answered 500" };
  const others = [
    { id: "acme", name: "Acme Shop", webhooks: [{ ...webhook, failing }] },
    { id: "borealis", name: null, webhooks: [webhook, { ...webhook, id: "old", state: "disabled" as const }] },
  ];
  const told = troublesOf({ others }).map(({ what, remedy }) => [what, remedy]);
  expect(told).toEqual([
    ["The webhook push of Acme Shop fails: the receiver answered 500", { page: "webhooks", id: "push", org: "acme" }],
    ["The webhook old of borealis is switched off", { page: "webhooks", id: "old", org: "borealis" }],
  ]);
});
