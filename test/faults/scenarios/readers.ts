import { defineScenario } from "../scenario.ts";
import { onCluster } from "../stages.ts";

const burst = { short: 60, long: 100 };
// All clients come from one address here. The limit is slightly above their number, so a node that leaks places runs
// out of them.
const fromOneAddress = { HERALD_LIMIT_CONNECTIONS_PER_ADDRESS: "6000" };
// A reader that stops for seconds may miss more than the 1,000 messages that `since` gives.
const slow = { HERALD_LIMIT_CONNECTION_BACKLOG_BYTES: "1048576", HERALD_LIMIT_RECOVERY_MESSAGES: "100000" };
// The largest message allowed: 65,536 characters of three bytes each, and 32 KiB of parameters.
const largest = { body: "語".repeat(65_536), x: { note: "x".repeat(32 * 1024 - 20) } };

/** All clients reconnect at once, as every node but one is killed. */
export const reconnectStorm = defineScenario({
  name: "reconnect-storm",
  row: "Reconnect storm of 5,000 clients",
  expected: "All are back at what is left and miss nothing.",
  rounds: { short: 1, long: 3 },
  holdMs: { short: [0, 500], long: [0, 5_000] },
  allows: ["none", "503"],
  breaksConnections: true,
  calls: { callers: 2, pauseMs: 800 },
  mostSendsBetween: 20,
  listeners: (size) => ({
    followers: size === "short" ? 300 : 5_000,
    streamFollowers: 0,
    witnesses: 0,
    streams: 0,
    beginTogether: true,
  }),
  listensApart: true,
  stage: () => onCluster({ env: () => fromOneAddress }),
  async break({ nodes }, { round }) {
    const survivor = round % nodes.length; // a different one each time, as the last one has all the clients
    const others = nodes.filter((_, index) => index !== survivor);
    await Promise.all(others.map((node) => node.kill()));
    return async () => void (await Promise.all(others.map((node) => node.start())));
  },
});

/** A client in a busy room stops reading, and resumes. */
export const slowReader = defineScenario({
  name: "slow-reader",
  row: "Slow reader in a busy room",
  expected: "It is cut, comes back with `since` and misses nothing. Its neighbours notice nothing.",
  rounds: { short: 1, long: 4 },
  holdMs: { short: [0, 100], long: [0, 3_000] },
  allows: [],
  cutsSlowReaders: true,
  calls: { callers: 6, pauseMs: 5, bodySizes: [50_000, 65_536] },
  listeners: () => ({ followers: 3, streamFollowers: 0, witnesses: 3, streams: 1, slow: 2 }),
  listensApart: true,
  stage: () => onCluster({ env: () => slow }),
  async break(_, { audience, callers }) {
    await audience.pause();
    await callers.progress(350); // more than the system buffers for a connection, and the node after it
    return audience.resume;
  },
});

/** Bursts of the largest messages, which a reader that keeps up must survive. */
export const healthyReader = defineScenario({
  name: "healthy-reader",
  row: "Healthy readers during bursts of the largest messages",
  expected: "No connection is cut: a node waits for who reads, up to 16 MB/s.",
  rounds: { short: 1, long: 6 },
  holdMs: { short: [0, 100], long: [0, 1_000] },
  allows: [],
  listeners: () => ({ followers: 2, streamFollowers: 0, witnesses: 1, streams: 1 }),
  listensApart: true,
  stage: () => onCluster(),
  async break({ nodes }, { random, callers, size }) {
    const sends = Array.from({ length: burst[size] }, () => callers.sendTo(random.pick(nodes), largest));
    await Promise.all(sends);
    return () => undefined;
  },
});
