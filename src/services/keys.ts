import { randomBytes, timingSafeEqual } from "node:crypto";
import { HeraldError } from "../contract/errors.ts";

/** Who calls the admin API. */
export type Caller = { keyId: string };

/** Tells callers by their API keys. */
export type Keys = {
  /** Throws `unauthorized`: one code and one timing for a missing and a wrong key. */
  authenticate(key: string | null): Caller;
};

/** Knows one key, the bootstrap key, which has every scope. Only an HMAC of it is kept, and comparison takes constant time. */
export function createKeys({ bootstrapKey }: { bootstrapKey: string }): Keys {
  const pepper = randomBytes(32);
  const digest = (key: string) => new Bun.CryptoHasher("sha256", pepper).update(key).digest();
  const expected = digest(bootstrapKey);
  return {
    authenticate(key) {
      if (!timingSafeEqual(digest(key ?? ""), expected)) {
        throw new HeraldError("unauthorized", "send a valid API key in the header `Admin-Api-Key`", {
          headers: { "WWW-Authenticate": "Admin-Api-Key" },
        });
      }
      return { keyId: "bootstrap" };
    },
  };
}
