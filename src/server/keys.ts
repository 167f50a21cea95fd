import { readFileSync } from "node:fs";
import { z } from "zod";
import { HeraldError } from "../contract/errors/errors.ts";
import { parseJson } from "../lib/json/json-values.ts";
import { replaceSecret, type Secret } from "../lib/secret-file.ts";
import type { BootstrapStore, KeptBootstrap } from "../services/keys/bootstrap-key.ts";
import { createKeyring } from "../services/keys/keyring.ts";
import type { Refusals } from "../services/limits/refusals.ts";
import type { Context } from "./context.ts";
import type { Secrets } from "./secrets.ts";
import type { Store } from "./store.ts";

const stopMayTakeMs = 2_000;
const foreignKeysAdvice =
  "some API keys were created with another server secret and are refused (see docs/how-to/api-keys.md)";

const key = z.string().regex(/^[\x21-\x7e]{32,200}$/);
const digest = z.string().regex(/^[\w-]{43}$/); // 32 bytes
const former = z.array(z.strictObject({ digest, endsAt: z.int() }));

type Dependencies = Secrets & { store: Store; refusals: Refusals };

/** Opens the API keys, and warns of those that this server cannot check. */
export async function openKeys(context: Context, { adminKey, keySecret, store, refusals }: Dependencies) {
  const { clock, steadyClock, redaction, log, onError, onStop } = context;
  const keyring = createKeyring({
    keys: store.keys,
    bootstrap: openBootstrap(adminKey),
    onKey: (key) => redaction.add([key]),
    secret: keySecret,
    clock,
    elapsed: steadyClock,
    refusals,
    onError,
  });
  onStop(keyring.stop, stopMayTakeMs);
  const foreignKeys = await keyring.countForeign();
  if (foreignKeys > 0) log.warn({ keys: foreignKeys }, foreignKeysAdvice);
  return keyring;
}

/**
 * Opens the stored bootstrap key: the key in its own file, and the digests of earlier ones in another, which ends in
 * `-former`. A key from the settings is not stored.
 */
function openBootstrap({ value, file }: Secret): { initial: KeptBootstrap; store: BootstrapStore | undefined } {
  if (file === undefined) return { initial: { key: value, former: [] }, store: undefined };
  const formerFile = `${file}-former`;
  const store: BootstrapStore = {
    async read() {
      const found = key.safeParse(readText(file).trim());
      return found.success ? { key: found.data, former: readFormer(formerFile) } : undefined;
    },
    async replace(kept) {
      try {
        // Digests first: if the process dies in between, the key still in its file is the one that keeps working.
        replaceSecret(formerFile, JSON.stringify(kept.former));
        replaceSecret(file, kept.key);
      } catch (cause) {
        const isFull = cause instanceof Error && "code" in cause && cause.code === "ENOSPC";
        throw new HeraldError(isFull ? "storage_full" : "internal", undefined, { cause });
      }
    },
  };
  return { initial: { key: value, former: readFormer(formerFile) }, store };
}

function readFormer(file: string): KeptBootstrap["former"] {
  const found = former.safeParse(parseJson(readText(file)));
  return found.success ? found.data : [];
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // missing, or unreadable now
  }
}
