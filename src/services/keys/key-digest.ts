import { hkdfSync } from "node:crypto";

/** Makes of an API key what may be stored: its HMAC-SHA-256 under a secret of the server, the pepper. */
export type KeyDigest = {
  of(key: string): Buffer;
  /** Names the pepper and does not give it away. */
  pepper: string;
};

/**
 * `secret` is the server's, and the same on every node. The pepper is derived from it (HKDF, RFC 5869), so that a secret
 * which has another use as well gives nothing away there.
 */
export function createKeyDigest(secret: string): KeyDigest {
  const pepper = Buffer.from(hkdfSync("sha256", secret, "", "herald api keys", 32));
  const of = (key: string) => new Bun.CryptoHasher("sha256", pepper).update(key).digest();
  return { of, pepper: of("name of the pepper").toString("base64url").slice(0, 16) };
}
