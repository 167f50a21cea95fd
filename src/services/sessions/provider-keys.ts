import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { unavailable } from "../../contract/errors/errors.ts";
import { type OutageEvents, tellOutages } from "../../lib/observing/outages.ts";
import type { Clock } from "../../lib/time/clock.ts";

/** Finds the public key of an identity provider that a token names. */
export type ProviderKeys = JWTVerifyGetKey;

type Options = OutageEvents & {
  /** Fetches the JSON Web Key Set (RFC 7517) as text. Must time out by itself. */
  fetchKeySet(): Promise<string>;
  clock: Clock;
};

/** What fetching a key set may take, and its maximum size. */
export const keySetLimits = { timeoutMs: 5_000, maxBytes: 256 * 1024 };

const lifetimeMs = 10 * 60_000;
const staleLifetimeMs = 6 * 3600_000;
const cooldownMs = 30_000;

/**
 * Creates keys that are fetched when needed: first use, older than 10 minutes, or a token names an unknown key; at most
 * once in 30 seconds, whatever tokens come. While the provider is unavailable, known keys stay valid for 6 hours after
 * their fetch; after that, and before the first fetch, it throws `unavailable`.
 */
export function createProviderKeys({ fetchKeySet, clock, ...outages }: Options): ProviderKeys {
  let known: { find: JWTVerifyGetKey; fetchedAt: number } | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    // jose validates the set when it is created.
    const keySet: JSONWebKeySet = JSON.parse(await fetchKeySet());
    known = { find: createLocalJWKSet(keySet), fetchedAt: clock.now() };
  }

  const askWatched = tellOutages(ask, outages);

  /** Fetches the set, or joins a fetch in progress; does nothing within 30 seconds of the last one. */
  async function refresh(): Promise<void> {
    if (asking === undefined && clock.now() - askedAt >= cooldownMs) {
      askedAt = clock.now();
      asking = askWatched().finally(() => {
        asking = undefined;
      });
    }
    await asking;
  }

  const ageMs = () => (known === undefined ? Number.POSITIVE_INFINITY : clock.now() - known.fetchedAt);

  function keysOfNow(): JWTVerifyGetKey {
    if (known !== undefined && ageMs() < staleLifetimeMs) return known.find;
    throw unavailable({
      detail: "cannot fetch the identity provider's keys right now; try again",
      retryAfterSeconds: cooldownMs / 1000,
    });
  }

  return async (header, token) => {
    if (ageMs() >= lifetimeMs) await refresh();
    const find = keysOfNow();
    try {
      return await find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await refresh();
      return await keysOfNow()(header, token);
    }
  };
}
