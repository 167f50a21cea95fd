import { randomBytes, timingSafeEqual } from "node:crypto";
import { HeraldError, invalidKey, unavailable } from "../../contract/errors/errors.ts";
import { idOfApiKey, sliceOfId } from "../../contract/keys/api-key.ts";
import { rowsOfStatement } from "../../lib/queues/steps.ts";
import type { Clock, SteadyClock } from "../../lib/time/clock.ts";
import type { KeyWrites } from "../../store/keys/ports.ts";
import { createLongBodies } from "../limits/long-bodies.ts";
import type { Refusals } from "../limits/refusals.ts";
import type { BootstrapKey } from "./bootstrap-key.ts";
import type { KeyCache, KeyDigest, KnownSecret } from "./key-cache.ts";
import { type Caller, nobody } from "./permissions.ts";

/** Identifies callers by their API keys. */
export type Authentication = ReturnType<typeof createAuthentication>;

type Options = {
  bootstrap: Pick<BootstrapKey, "secrets">;
  digest: KeyDigest;
  cache: KeyCache;
  usage: KeyUsage;
  refusals: Refusals;
  clock: Clock;
  elapsed: SteadyClock;
};

/**
 * Creates authentication by the bootstrap key, which has every scope and is not in the database, and by the keys of the
 * store.
 */
export function createAuthentication(options: Options) {
  const { bootstrap, digest, cache, usage, refusals, clock, elapsed } = options;
  const longBodies = createLongBodies({ clock: elapsed });
  // Compared with unknown keys, so that they take as long as known ones.
  const secretsOfNone: readonly KnownSecret[] = [{ digest: randomBytes(32), endsAt: 0, caller: nobody }];

  function recognize(key: string, digested: Buffer, address: string): Caller | undefined {
    const ofStore = matching(cache.get(sliceOfId(key)) ?? secretsOfNone, digested);
    const ofBootstrap = matching(bootstrap.secrets, digested);
    const secret = ofBootstrap ?? ofStore;
    if (secret === undefined || clock.now() >= secret.endsAt) return undefined;
    if (secret.isFrom?.(address) === false) return undefined;
    if (secret === ofStore) usage.note(secret.caller.keyId);
    return secret.caller;
  }

  async function recognizeAfterRefresh(key: string, digested: Buffer, address: string, hasLongBody: boolean) {
    const id = idOfApiKey(key); // a mistyped key has no id: nothing is looked up for it
    if (hasLongBody) longBodies.admit(address);
    if (id === undefined) refusals.admit(address); // a key that may be valid is looked up, whatever others at that address did
    const hasAnswered = await cache.refresh(id);
    const caller = recognize(key, digested, address);
    if (caller !== undefined) return caller;
    if (id !== undefined && !hasAnswered) {
      throw unavailable({ detail: "the database that stores the keys does not respond; try again" });
    }
    refusals.admit(address);
    refusals.note(address);
    throw invalidKey();
  }

  return {
    /**
     * Identifies the caller. Keys known to this node are answered at once; for all others the store is asked, as they may
     * have been created or rotated on another node a moment ago. Thus all refusals look alike and take the same time:
     * missing, malformed, unknown, expired, revoked or wrong network. Throws `unauthorized`, `rate_limited` instead if
     * too many from that address were refused, or `unavailable` if the store cannot be asked. A valid key is looked up
     * first, so it is never refused for what others do at its address.
     *
     * A call for which the store is asked while a body may arrive that is too long to drop (`hasLongBody`) throws
     * `unavailable` at once beyond a burst of 16 from an address (IPv6: a /64) and 50 per second.
     */
    authenticate(key: string | null, address: string, hasLongBody = false): Caller | Promise<Caller> {
      const text = key ?? "";
      const digested = digest.of(text);
      return recognize(text, digested, address) ?? recognizeAfterRefresh(text, digested, address, hasLongBody);
    },
  };
}

/** Compares every secret in constant time, even after a match. */
function matching(secrets: readonly KnownSecret[], digested: Buffer): KnownSecret | undefined {
  let found: KnownSecret | undefined;
  for (const secret of secrets) if (timingSafeEqual(secret.digest, digested)) found = secret;
  return found;
}

/** Collects which keys are used, and tells the store now and then; no request waits for it. */
export type KeyUsage = ReturnType<typeof createKeyUsage>;

type UsageOptions = { keys: Pick<KeyWrites, "markUsed">; clock: Clock; onError(error: unknown): void };

/** Creates usage tracking whose times are as coarse as the intervals between calls of `flush`. */
export function createKeyUsage({ keys, clock, onError }: UsageOptions) {
  const used = new Set<string>();
  return {
    note: (id: string) => void used.add(id),
    /** Writes the usage since the last call. Never rejects: what cannot be written is retried by the next call. */
    async flush(): Promise<void> {
      const ids = [...used];
      used.clear();
      for (let start = 0; start < ids.length; start += rowsOfStatement) {
        try {
          await keys.markUsed(ids.slice(start, start + rowsOfStatement), clock.now());
        } catch (error) {
          for (const id of ids.slice(start)) used.add(id);
          if (!(error instanceof HeraldError)) onError(error); // an outage of the store is reported elsewhere
          return;
        }
      }
    },
  };
}
