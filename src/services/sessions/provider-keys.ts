import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { unavailable } from "../../contract/errors/errors.ts";
import type { Clock } from "../../lib/time/clock.ts";

/** The public keys of an identity provider: gives the key that a token names. */
export type ProviderKeys = JWTVerifyGetKey;

type Options = {
  /** The JSON Web Key Set (RFC 7517) as text. Must end by itself. */
  fetchKeySet(): Promise<string>;
  clock: Clock;
  /** Called with the first of a row of fetches that failed. */
  onError(error: unknown): void;
  onRecovery(): void;
};

const lifetimeMs = 10 * 60_000;
const staleLifetimeMs = 6 * 3600_000;
const cooldownMs = 30_000;

/**
 * Fetches the key set when it is needed: the first time, when it is older than 10 minutes, and when a token names a key that is
 * not in it. Whatever tokens come, there is one fetch in 30 seconds at most. While the provider cannot be asked, the
 * keys that are known count for 6 hours since they were fetched; then, and before there are any, it throws `unavailable`.
 */
export function createProviderKeys({ fetchKeySet, clock, onError, onRecovery }: Options): ProviderKeys {
  let known: { find: JWTVerifyGetKey; fetchedAt: number } | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;
  let isFailing = false;

  async function ask(): Promise<void> {
    try {
      // Checked by jose when it makes the set of it.
      const keySet: JSONWebKeySet = JSON.parse(await fetchKeySet());
      known = { find: createLocalJWKSet(keySet), fetchedAt: clock.now() };
      if (isFailing) onRecovery();
      isFailing = false;
    } catch (error) {
      if (!isFailing) onError(error);
      isFailing = true;
    }
  }

  /** Asks the provider, together with those who wait already; not at all within 30 seconds of the last time. */
  async function refresh(): Promise<void> {
    if (asking === undefined && clock.now() - askedAt >= cooldownMs) {
      askedAt = clock.now();
      asking = ask().finally(() => {
        asking = undefined;
      });
    }
    await asking;
  }

  const ageMs = () => (known === undefined ? Number.POSITIVE_INFINITY : clock.now() - known.fetchedAt);

  function keysOfNow(): JWTVerifyGetKey {
    if (known !== undefined && ageMs() < staleLifetimeMs) return known.find;
    throw unavailable({
      detail: "the keys of the identity provider cannot be fetched now; try again",
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
