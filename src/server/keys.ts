import { createKeyring } from "../services/keys/keyring.ts";
import type { Refusals } from "../services/limits/refusals.ts";
import { foreignKeysAdvice } from "./advice.ts";
import { openBootstrap } from "./bootstrap-file.ts";
import type { Context } from "./context.ts";
import type { Secrets } from "./secrets.ts";
import type { Store } from "./store.ts";

const stopMayTakeMs = 2_000;

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
