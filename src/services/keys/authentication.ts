import { randomBytes, timingSafeEqual } from "node:crypto";
import { HeraldError, unavailable } from "../../contract/errors/errors.ts";
import { idOfApiKey, sliceOfId } from "../../contract/keys/api-key.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Refusals } from "../limits/refusals.ts";
import type { BootstrapKey } from "./bootstrap-key.ts";
import type { KeyCache, KnownSecret } from "./key-cache.ts";
import type { KeyDigest } from "./key-digest.ts";
import type { KeyUsage } from "./key-usage.ts";
import { type Caller, nobody } from "./permissions.ts";

/** Tells callers by their API keys. */
export type Authentication = {
  /**
   * Who calls. A key that this node knows is told at once; any other only after the store was asked, since it may have been
   * made or rotated on another node a moment ago. So whatever is refused is refused in one way and takes one time: missing,
   * malformed, unknown, expired, revoked, from another network. Throws `unauthorized`, in its place `rate_limited` when too many
   * from there were refused, or `unavailable` when the store cannot be asked. A valid key is never refused for what others do at
   * its address: it is looked up first. `address` is called only for keys that are bound to networks, and for those that are refused.
   */
  authenticate(key: string | null, address: () => string | undefined): Caller | Promise<Caller>;
};

type Options = {
  bootstrap: Pick<BootstrapKey, "recognize">;
  digest: KeyDigest;
  cache: KeyCache;
  usage: KeyUsage;
  refusals: Refusals;
  clock: Clock;
};

/** Knows the bootstrap key, which has every scope and is in no database, and the keys of the store. */
export function createAuthentication(options: Options): Authentication {
  const { bootstrap, digest, cache, usage, refusals, clock } = options;
  // What an unknown key is compared with, so that it costs what a known one does.
  const unknownKey = { secrets: [{ digest: randomBytes(32), endsAt: 0, caller: nobody }], isFrom: undefined };

  function recognize(key: string, digested: Buffer, address: () => string | undefined): Caller | undefined {
    const { secrets, isFrom } = cache.get(sliceOfId(key)) ?? unknownKey;
    const secret = matching(secrets, digested);
    const ofBootstrap = bootstrap.recognize(digested);
    if (ofBootstrap !== undefined) return ofBootstrap;
    if (secret === undefined || clock.now() >= secret.endsAt) return undefined;
    if (isFrom !== undefined && !isFrom(address() ?? "")) return undefined;
    usage.note(secret.caller.keyId);
    return secret.caller;
  }

  async function recognizeAfterRefresh(key: string, digested: Buffer, address: () => string | undefined) {
    const id = idOfApiKey(key); // a typo names nobody: no key is looked up for it
    const source = address() ?? "";
    if (id === undefined) refusals.admit(source); // what may be a valid key is looked up, whatever others at that address did
    const hasAnswered = await cache.refresh(id);
    const caller = recognize(key, digested, address);
    if (caller !== undefined) return caller;
    if (id !== undefined && !hasAnswered) {
      throw unavailable({ detail: "the database that knows the keys does not answer" });
    }
    refusals.admit(source);
    refusals.note(source);
    throw new HeraldError("unauthorized", "send a valid API key in the header `Admin-Api-Key`", {
      headers: { "WWW-Authenticate": "Admin-Api-Key" },
    });
  }

  return {
    authenticate(key, address) {
      const text = key ?? "";
      const digested = digest.of(text);
      return recognize(text, digested, address) ?? recognizeAfterRefresh(text, digested, address);
    },
  };
}

/** Looks at every secret, also after one has matched: each takes constant time. */
function matching(secrets: KnownSecret[], digested: Buffer): KnownSecret | undefined {
  let found: KnownSecret | undefined;
  for (const secret of secrets) if (timingSafeEqual(secret.digest, digested)) found = secret;
  return found;
}
