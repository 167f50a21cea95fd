import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** A secret, and the file that holds it unless it was given. */
export type Secret = { value: string; file: string | undefined; isNew: boolean };

/** The secret that was given, or else the one of `file`, which is made there the first time. */
export function givenOrMade(given: string | undefined, file: string, create: () => string): Secret {
  if (given !== undefined) return { value: given, file: undefined, isNew: false };
  return { file: resolve(file), ...readOrCreateSecret(file, create) };
}

/** A new secret of 384 bits, as text. */
export function createSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(48))).toString("base64url");
}

/** Reads a secret from `file`, or makes one and leaves it there for the owner alone (mode 0600). */
export function readOrCreateSecret(file: string, create: () => string): { value: string; isNew: boolean } {
  if (existsSync(file)) return { value: readFileSync(file, "utf8").trim(), isNew: false };
  const value = create();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${value}\n`, { mode: 0o600, flag: "wx", flush: true });
  chmodSync(file, 0o600); // the umask may have taken more than it should, never less
  return { value, isNew: true };
}

/** Puts another secret into `file`, for the owner alone (mode 0600): readers find the old one or the new one, whole, also after a crash. */
export function replaceSecret(file: string, value: string): void {
  const next = `${file}.${process.pid}.new`;
  writeFileSync(next, `${value}\n`, { mode: 0o600, flush: true });
  chmodSync(next, 0o600);
  renameSync(next, file);
}
