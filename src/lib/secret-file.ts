import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** A secret, and its file unless it was given. */
export type Secret = { value: string; file: string | undefined; isNew: boolean };

/** A file that should hold a secret holds none. The message says what to do. */
export class SecretFileError extends Error {
  override readonly name = "SecretFileError";
}

const leastCharacters = 32;

/** Returns the given secret, or else the one in `file`, created on first use. */
export function givenOrMade(given: string | undefined, file: string, create: () => string): Secret {
  if (given !== undefined) return { value: given, file: undefined, isNew: false };
  return { file: resolve(file), ...readOrCreateSecret(file, create) };
}

/** Creates a secret of 384 bits, as text. */
export function createSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(48))).toString("base64url");
}

/**
 * Reads a secret from `file`, without white space around it, or creates one and stores it there, readable by the owner only (mode
 * 0600). Throws `SecretFileError` if what the file holds is too short to be a secret.
 */
export function readOrCreateSecret(file: string, create: () => string): { value: string; isNew: boolean } {
  if (existsSync(file)) {
    const value = readFileSync(file, "utf8").trim();
    if (value.length >= leastCharacters) return { value, isNew: false };
    throw new SecretFileError(
      `${resolve(file)} is ${value === "" ? "empty" : "too short to hold a secret"}; restore it from a backup, or delete it so that a new secret is created, which invalidates what the old one signed or protected`,
    );
  }
  const value = create();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${value}\n`, { mode: 0o600, flag: "wx", flush: true });
  chmodSync(file, 0o600); // the umask may have removed too much, but never too little
  return { value, isNew: true };
}

/**
 * Replaces the secret in `file` atomically, readable by the owner only (mode 0600): readers find the old or the new
 * one, even after a crash.
 */
export function replaceSecret(file: string, value: string): void {
  const next = `${file}.${process.pid}.new`;
  writeFileSync(next, `${value}\n`, { mode: 0o600, flush: true });
  chmodSync(next, 0o600);
  renameSync(next, file);
}
