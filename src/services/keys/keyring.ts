import type { Clock, SteadyClock } from "../../lib/time/clock.ts";
import type { ApiKeys } from "../../store/keys/ports.ts";
import type { Refusals } from "../limits/refusals.ts";
import { createAuthentication, createKeyUsage } from "./authentication.ts";
import { type BootstrapStore, createBootstrapKey, type KeptBootstrap } from "./bootstrap-key.ts";
import { createKeyCache, createKeyDigest } from "./key-cache.ts";
import { createKeys } from "./keys.ts";

/** Everything about API keys on one node. */
export type Keyring = ReturnType<typeof createKeyring>;

type Options = {
  keys: ApiKeys;
  /** The key with every scope, and where it is kept if Herald created it. */
  bootstrap: { initial: KeptBootstrap; store: BootstrapStore | undefined };
  /** Called with each bootstrap key that takes effect. */
  onKey(key: string): void;
  /** The server's secret that keys are hashed with, the same on every node. */
  secret: string;
  clock: Clock;
  elapsed: SteadyClock;
  refusals: Refusals;
  onError(error: unknown): void;
};

const changesEveryMs = 1_000;
const usageEveryMs = 60_000;

/** Creates a keyring that follows the store: changes made on other nodes take effect here within about a second. */
export function createKeyring(options: Options) {
  const { keys, secret, clock, elapsed, refusals, onKey, onError } = options;
  const digest = createKeyDigest(secret);
  const bootstrap = createBootstrapKey({ ...options.bootstrap, digest, clock, onKey });
  const cache = createKeyCache({ keys, elapsed, onError });
  const usage = createKeyUsage({ keys, clock, onError });
  const readChanges = () => void cache.refresh().catch(onError);
  readChanges();
  const timers = [
    setInterval(readChanges, changesEveryMs),
    setInterval(() => void bootstrap.refresh().catch(onError), changesEveryMs),
    setInterval(() => void usage.flush(), usageEveryMs),
  ];
  return {
    authentication: createAuthentication({ bootstrap, digest, cache, usage, refusals, clock, elapsed }),
    keys: createKeys({ keys, bootstrap, digest, cache, clock }),
    /** The number of stored keys created under another server secret; such keys are refused. */
    countForeign: () => keys.countOfOtherPepper(digest.pepper),
    /** Writes the remaining usage. Call it while the store is open. */
    async stop(): Promise<void> {
      for (const timer of timers) clearInterval(timer);
      await cache.refresh(); // waits for a query in flight, which needs the store
      await usage.flush();
    },
  };
}
