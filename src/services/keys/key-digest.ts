import { hkdfSync } from "node:crypto";

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
