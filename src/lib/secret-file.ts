import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Reads a secret from `file`, or makes one and leaves it there for the owner alone (mode 0600). */
export function readOrCreateSecret(file: string, create: () => string): { value: string; isNew: boolean } {
  if (existsSync(file)) return { value: readFileSync(file, "utf8").trim(), isNew: false };
  const value = create();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${value}\n`, { mode: 0o600, flag: "wx", flush: true });
  chmodSync(file, 0o600); // the umask may have taken more than it should, never less
  return { value, isNew: true };
}
