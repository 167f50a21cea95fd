import { randomBytes } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { bytesOf } from "../harness/reading/files.ts";

/** Makes a secret that contains this word, so that a leak is recognized. */
export function makeSecret(word: string): string {
  return `${word}-${randomBytes(18).toString("hex")}`;
}

/** Searches outputs for secrets, by name. */
export type SecretSearch = {
  /** From now on, also looks for this one. Returns it. */
  add(name: string, secret: string): string;
  /** Looks at an output; `except` names the secrets that it may contain. */
  look(where: string, output: string | Uint8Array, except?: readonly string[]): void;
  /** What was found, and where. */
  readonly leaks: { where: string; name: string; around: string }[];
  readonly names: string[];
};

const markedCharacters = 20;
const largeBytes = 1024 * 1024; // from here on, only for the plain form

/** The forms in which a secret, or its end, may stand in an output. */
function formsOf(secret: string): string[] {
  const end = secret.slice(-markedCharacters);
  const base64 = [0, 1, 2].map((shift) => {
    const encoded = Buffer.from("x".repeat(shift) + end).toString("base64");
    return encoded.slice(4, -4); // whatever comes before and after
  });
  const escaped = [JSON.stringify(end).slice(1, -1), encodeURIComponent(end)];
  return [...new Set([end, ...escaped, ...base64, Buffer.from(end).toString("hex")])];
}

/** Creates a search without secrets. */
export function createSecretSearch(): SecretSearch {
  const secrets = new Map<string, Buffer[]>();
  const leaks: SecretSearch["leaks"] = [];
  return {
    add(name, secret) {
      const forms = formsOf(secret).map((form) => Buffer.from(form));
      secrets.set(name, forms);
      return secret;
    },
    look(where, output, except = []) {
      const bytes =
        typeof output === "string" ? Buffer.from(output) : Buffer.from(output.buffer, output.byteOffset, output.length);
      for (const [name, forms] of secrets) {
        const sought = bytes.length > largeBytes ? forms.slice(0, 1) : forms;
        const at = Math.max(...sought.map((form) => bytes.indexOf(form)));
        if (at < 0 || except.includes(name)) continue;
        const around = bytes.subarray(Math.max(0, at - 120), at + 40).toString("latin1");
        leaks.push({ where, name, around });
      }
    },
    leaks,
    get names() {
      return [...secrets.keys()];
    },
  };
}

/** Every file below a folder with its bytes, except those of these names. */
export function* filesBelow(
  folder: string,
  except: readonly string[] = [],
): Generator<[path: string, bytes: Uint8Array]> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (except.includes(name)) continue;
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) yield* filesBelow(path, except);
    else yield [path, bytesOf(path)];
  }
}
