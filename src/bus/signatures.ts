import { timingSafeEqual } from "node:crypto";
import type { Clock } from "../lib/time/clock.ts";

/** What a text on the bus is for. One that is signed as one kind is never taken for another. */
export type TextKind = "hint" | "question" | "answer";

/** What a text turned out to be: `unsigned` bears no signature at all, `forged` one that no secret here made for this place. */
export type Verdict = "signed" | "unsigned" | "forged";

/**
 * Signs what nodes tell one another, with a secret that all nodes of a database share. `place` is where a text belongs, as its
 * subject, or the id of the question that it answers: elsewhere its signature is worth nothing.
 */
export type Signer = {
  /** Takes the secrets as they are now, the oldest first. Called every few seconds: with time a new one comes into use. */
  take(secrets: readonly string[]): void;
  /** The JSON text of an object with its signature as the last member; `undefined` as long as there is no secret. */
  sign(kind: TextKind, place: string, text: string): string | undefined;
  /** Says whether a text was signed for this place. In constant time, and before anything of it is parsed. */
  verify(kind: TextKind, place: string, text: string): Verdict;
};

const signedAfterMs = 30_000;
// Half of the digest's bits, the least that RFC 2104 (section 5) would have; nobody guesses 128 bits online (NIST SP 800-107, 5.3.3).
const macBytes = 16;
const opening = ',"mac":"';
const closing = '"}';
const macCharacters = Math.ceil((macBytes * 8) / 6);
/** How many characters a signature adds to a text. */
export const signatureLength = opening.length + macCharacters + closing.length - 1;

/**
 * Signs with HMAC-SHA-256, cut to 16 bytes. All secrets that are known are good for reading; for writing it is the newest that has
 * been known for 30 s, when the other nodes know it as well, and before that the oldest.
 */
export function createSigner(clock: Clock): Signer {
  let knownSince = new Map<string, number>();
  let current: string | undefined;

  return {
    take(secrets) {
      const now = clock.now();
      knownSince = new Map(secrets.map((secret) => [secret, knownSince.get(secret) ?? now]));
      current = secrets.findLast((secret) => now - (knownSince.get(secret) ?? now) >= signedAfterMs) ?? secrets[0];
    },
    sign(kind, place, text) {
      if (current === undefined) return undefined;
      const body = text.slice(0, -1); // without the brace that ends it
      const mac = macOf(current, kind, place, body).toString("base64url");
      return `${body}${opening}${mac}${closing}`;
    },
    verify(kind, place, text) {
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

function macOf(secret: string, kind: TextKind, place: string, body: string): Buffer {
  const context = ["herald 1", kind, place, ""].join("\n");
  return new Bun.CryptoHasher("sha256", secret).update(context).update(body).digest().subarray(0, macBytes);
}
