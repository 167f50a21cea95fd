import type { Clock } from "../../lib/time/clock.ts";
import type { ApiKeys } from "../../store/ports.ts";
import type { Refusals } from "../limits/refusals.ts";
import { type Authentication, createAuthentication } from "./authentication.ts";
import { type BootstrapStore, createBootstrapKey, type KeptBootstrap } from "./bootstrap-key.ts";
import { createKeyCache } from "./key-cache.ts";
import { createKeyDigest } from "./key-digest.ts";
import { createKeyUsage } from "./key-usage.ts";
import { createKeys, type Keys } from "./keys.ts";

/** All that has to do with API keys on one node. */
export type Keyring = {
  authentication: Authentication;
  keys: Keys;
  /** How many stored keys were made under another secret of the server; they are refused. */
  countForeign(): Promise<number>;
  /** Writes down what was used. To be called while the store is open. */
  stop(): Promise<void>;
};

type Options = {
  keys: ApiKeys;
  /** The key with every scope, and where it is kept if Herald made it. */
  bootstrap: { initial: KeptBootstrap; store: BootstrapStore | undefined };
  /** Told of each bootstrap key that is one from now on. */
  onKey(key: string): void;
  /** The secret of the server that keys are kept under, the same on every node. */
  secret: string;
  clock: Clock;
  /** A clock that only goes forward. */
  elapsed: Clock;
  refusals: Refusals;
  onError(error: unknown): void;
};

const changesEveryMs = 1_000;
const usageEveryMs = 60_000;

/** Starts to follow the changes of keys: what another node changes holds here within about a second. */
export function createKeyring(options: Options): Keyring {
  const { keys, secret, clock, elapsed, refusals, onKey, onError } = options;
  const digest = createKeyDigest(secret);
  const bootstrap = createBootstrapKey({ ...options.bootstrap, digest, clock, onKey });
  const cache = createKeyCache({ keys, elapsed, onError });
  const usage = createKeyUsage({ keys, clock, onError });
  const timers = [
    setInterval(() => void cache.refresh().catch(onError), changesEveryMs),
    setInterval(() => void bootstrap.refresh().catch(onError), changesEveryMs),
    setInterval(() => void usage.flush(), usageEveryMs),
  ];
  return {
    authentication: createAuthentication({ bootstrap, digest, cache, usage, refusals, clock }),
    keys: createKeys({ keys, bootstrap, digest, cache, clock }),
    countForeign: () => keys.countOfOtherPepper(digest.pepper),
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await cache.refresh(); // comes after one that is under way, which needs the store
      await usage.flush();
    },
  };
}
