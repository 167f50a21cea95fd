import { hkdfSync } from "node:crypto";
import { HeraldError, unavailable } from "../../contract/errors/errors.ts";
import { forgetOldest } from "../../lib/caches/forget-oldest.ts";
import { createAddressSet } from "../../lib/network/addresses.ts";
import { createBatcher } from "../../lib/queues/batcher.ts";
import { gatherMs, rowsOfStatement } from "../../lib/queues/steps.ts";
import type { SteadyClock } from "../../lib/time/clock.ts";
import type { KeyChange, KeyReads, StoredKey } from "../../store/keys/ports.ts";
import type { Caller } from "./permissions.ts";

/** A secret of a key, as requests are checked against it. */
export type KnownSecret = {
  digest: Buffer;
  endsAt: number;
  caller: Caller;
  /** Absent if the key may be used from anywhere. */
  isFrom?: ((address: string) => boolean) | undefined;
};

/** The keys that this node has seen or that were changed lately, with their state in the store. */
export type KeyCache = ReturnType<typeof createKeyCache>;

type Options = {
  keys: KeyReads;
  elapsed: SteadyClock;
  onError(error: unknown): void;
  maxKeys?: number;
};

// How long an answer of the store is trusted: less than the 5 s within which a revocation takes effect on every node (api.md, section 5).
const trustMs = 4_000;
const defaultMaxKeys = 10_000;
const changesAtFirst = 1_000;
const maxWaiting = 20_000;

/**
 * Creates a cache that keeps requests with known keys away from the database: those of the latest thousand changes, all
 * that change from then on, and whatever else is asked for. One query at a time, at most one in 10 ms, asks for changes
 * since the last one: unknown keys cannot overload the database, and no answer overwrites a later one. If the key
 * changed last is not as it was, all keys are forgotten and read anew: the database may have lost its last commits, among
 * them revocations, and reused their versions. Beyond `maxKeys`, the oldest entry is dropped.
 */
export function createKeyCache({ keys, elapsed, onError, maxKeys = defaultMaxKeys }: Options) {
  const known = new Map<string, KnownSecret[]>();
  let seen: KeyChange | undefined; // the key changed last, as far as this cache knows
  let isFilled = false;
  let trustedUntil = Number.NEGATIVE_INFINITY;

  async function read(ids: (string | undefined)[]): Promise<void> {
    const startedAt = elapsed.now();
    const asked = new Set(ids.filter((id) => id !== undefined));
    seen ??= await keys.latest();
    const since = (seen?.version ?? 0) - (isFilled ? 0 : Math.min(changesAtFirst, maxKeys));
    const changes = await keys.changes(Math.max(0, since), seen === undefined ? [...asked] : [...asked, seen.id]);
    // Otherwise that key was changed again, or the database lost that change, and perhaps others with it.
    isFilled = changes.some(
      ({ id, version, mark }) => id === seen?.id && version === seen.version && mark === seen.mark,
    );
    if (!isFilled) known.clear();
    // Keys that a call waits for come last, so that none of the others takes their place.
    changes.sort((left, right) => Number(asked.has(left.id)) - Number(asked.has(right.id)));
    for (const { id, key } of changes) {
      if (key === undefined) known.delete(id);
      else known.set(id, secretsOf(key));
      forgetOldest(known, maxKeys);
    }
    seen = latestOf(changes);
    trustedUntil = startedAt + trustMs;
  }

  const lookups = createBatcher<string | undefined, boolean>({
    async flush(ids) {
      await Bun.sleep(gatherMs);
      let hasAnswered = true;
      try {
        await read(ids);
      } catch (error) {
        hasAnswered = false;
        if (!(error instanceof HeraldError)) onError(error);
      }
      return ids.map(() => hasAnswered);
    },
    maxBatch: rowsOfStatement,
    maxWaiting,
    whenFull: () => unavailable({ detail: "too many calls with keys that this node has not seen yet; try again" }),
  });

  return {
    /** The secrets of a key; `undefined` if it is not cached, and for every key while the cache is out of date. */
    get: (id: string): readonly KnownSecret[] | undefined => (elapsed.now() < trustedUntil ? known.get(id) : undefined),
    /** Asks the store for changes, and for the key `id`. Resolves to whether it answered; concurrent calls share a query. */
    refresh: (id?: string): Promise<boolean> => lookups.add(id),
  };
}

function latestOf(changes: KeyChange[]): KeyChange | undefined {
  return changes.reduce<KeyChange | undefined>(
    (latest, change) => (latest === undefined || change.version > latest.version ? change : latest),
    undefined,
  );
}

function secretsOf({ id: keyId, secrets, scopes, org, senders, networks, expiresAt }: StoredKey): KnownSecret[] {
  const isFrom = networks === null ? undefined : createAddressSet(networks).has;
  return secrets.map((secret) => {
    const endsAt = Math.min(expiresAt ?? Number.POSITIVE_INFINITY, secret.expiresAt ?? Number.POSITIVE_INFINITY);
    const rights = { scopes, org, senders, networks, expiresAt: Number.isFinite(endsAt) ? endsAt : null };
    const secretExpiresAt = secret.expiresAt === null ? undefined : endsAt;
    const caller = { keyId, rights, secretExpiresAt, digest: secret.digest };
    return { digest: Buffer.from(secret.digest, "base64url"), endsAt, caller, isFrom };
  });
}

/** Hashes API keys for storage: HMAC-SHA-256 under a secret of the server, the pepper. */
export type KeyDigest = {
  of(key: string): Buffer;
  /** Identifies the pepper without revealing it. */
  pepper: string;
};

/**
 * Creates digests from the server's `secret`, which is the same on every node. The pepper is derived from it (HKDF, RFC
 * 5869), so that other uses of the secret learn nothing about it.
 */
export function createKeyDigest(secret: string): KeyDigest {
  const pepper = Buffer.from(hkdfSync("sha256", secret, "", "herald api keys", 32));
  const of = (key: string) => new Bun.CryptoHasher("sha256", pepper).update(key).digest();
  return { of, pepper: of("name of the pepper").toString("base64url").slice(0, 16) };
}
