import { timingSafeEqual } from "node:crypto";
import type { Clock } from "../lib/time/clock.ts";

/** The purpose of a text on the bus. A text signed for one purpose is not accepted for another. */
export type TextKind = "hint" | "question" | "answer" | "watch" | "news" | "activity" | "typing";

/**
 * The result of checking a signature: `unsigned` means that there is none, `forged` that no known secret made it for
 * this place.
 */
export type Verdict = "signed" | "unsigned" | "forged";

const signedAfterMs = 30_000;
// Half of the digest, the minimum of RFC 2104 (section 5); 128 bits cannot be guessed online (NIST SP 800-107, 5.3.3).
const macBytes = 16;
const opening = ',"mac":"';
const closing = '"}';
const macCharacters = Math.ceil((macBytes * 8) / 6);
/** The number of characters a signature adds to a text. */
export const signatureLength = opening.length + macCharacters + closing.length - 1;

/**
 * Creates a signer that uses HMAC-SHA-256, truncated to 16 bytes. Verifies with all known secrets; signs with the
 * newest one known for 30 s, by when the other nodes know it too, or else with the oldest.
 */
export function createSigner(clock: Clock) {
  let knownSince = new Map<string, number>();
  let current: string | undefined;

  return {
    /**
     * Receives the current secrets, oldest first. Called every few seconds: a new secret comes into use after a while.
     */
    take(secrets: readonly string[]): void {
      const now = clock.now();
      knownSince = new Map(secrets.map((secret) => [secret, knownSince.get(secret) ?? now]));
      current = secrets.findLast((secret) => now - (knownSince.get(secret) ?? now) >= signedAfterMs) ?? secrets[0];
    },
    /** Appends the signature to an object's JSON text as its last member; `undefined` while there is no secret. */
    sign(kind: TextKind, place: string, text: string): string | undefined {
      if (current === undefined) return undefined;
      const body = text.slice(0, -1); // without the closing brace
      const mac = macOf(current, kind, place, body).toString("base64url");
      return `${body}${opening}${mac}${closing}`;
    },
    /** Checks that a text was signed for this place, in constant time and without parsing it. */
    verify(kind: TextKind, place: string, text: string): Verdict {
      const end = text.length - signatureLength - 1;
      if (end < 1 || !text.startsWith(opening, end) || !text.endsWith(closing)) return "unsigned";
      const given = Buffer.from(text.slice(end + opening.length, -closing.length), "base64url");
      if (given.length !== macBytes) return "forged";
      const body = text.slice(0, end);
      for (const secret of knownSince.keys())
        if (timingSafeEqual(given, macOf(secret, kind, place, body))) return "signed";
      return "forged";
    },
  };
}

/**
 * Signs texts between nodes with a secret that all nodes of a database share. `place` is where a text belongs, such as
 * its subject or the id of the question it answers: its signature is invalid elsewhere.
 */
export type Signer = ReturnType<typeof createSigner>;

function macOf(secret: string, kind: TextKind, place: string, body: string): Buffer {
  const context = ["herald 1", kind, place, ""].join("\n");
  return new Bun.CryptoHasher("sha256", secret).update(context).update(body).digest().subarray(0, macBytes);
}
