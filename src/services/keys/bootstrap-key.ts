import { HeraldError } from "../../contract/errors/errors.ts";
import { toIso } from "../../contract/identifiers.ts";
import { createApiKey } from "../../contract/keys/api-key.ts";
import type { ApiKeyWithSecret } from "../../contract/keys/keys.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { KeyDigest, KnownSecret } from "./key-cache.ts";
import { type Caller, permitRights, unlisted, unrestricted } from "./permissions.ts";

/** The name of the bootstrap key in paths, in the audit log and in the log. */
export const bootstrapId = "bootstrap";

/** The key, and the digests of earlier ones with their expiry in milliseconds since the Unix epoch. */
export type KeptBootstrap = { key: string; former: { digest: string; endsAt: number }[] };

/** Where Herald keeps a key that it created. Several processes may share it. */
export type BootstrapStore = {
  /** `undefined` if it cannot be read now. */
  read(): Promise<KeptBootstrap | undefined>;
  /** Replaces the content atomically, even if the process dies. */
  replace(kept: KeptBootstrap): Promise<void>;
};

/** The key with every scope, which is not in the database. */
export type BootstrapKey = ReturnType<typeof createBootstrapKey>;

type Options = {
  initial: KeptBootstrap;
  /** Absent if the key comes from the settings. */
  store: BootstrapStore | undefined;
  digest: KeyDigest;
  clock: Clock;
  /** Called with each key that takes effect. */
  onKey(key: string): void;
};

const maxFormer = 4;

/** Creates the bootstrap key from its stored form. */
export function createBootstrapKey({ initial, store, digest, clock, onKey }: Options) {
  let kept = initial;
  let turn: Promise<unknown> = Promise.resolve();
  const bootstrap = { secrets: secretsOf(initial), rotate, refresh };

  /** Its secrets, as requests are checked against them; the current one comes last. */
  function secretsOf({ key, former }: KeptBootstrap): KnownSecret[] {
    const current = unlisted(bootstrapId);
    return [
      ...former.map(({ digest: text, endsAt }) => ({
        digest: Buffer.from(text, "base64url"),
        endsAt,
        caller: { ...current, rights: { ...unrestricted, expiresAt: endsAt }, secretExpiresAt: endsAt },
      })),
      { digest: digest.of(key), endsAt: Number.POSITIVE_INFINITY, caller: current },
    ];
  }

  function use(next: KeptBootstrap): void {
    if (next.key !== kept.key) onKey(next.key);
    kept = next;
    bootstrap.secrets = secretsOf(next);
  }

  /** Adopts changes made by another process. */
  async function refresh(): Promise<void> {
    const next = await store?.read();
    if (next !== undefined) use(next);
  }

  async function replace(file: BootstrapStore, overlapSeconds: number): Promise<ApiKeyWithSecret> {
    await refresh();
    const now = clock.now();
    const endsAt = now + overlapSeconds * 1000;
    const { key } = createApiKey();
    const before = [{ digest: digest.of(kept.key).toString("base64url"), endsAt }, ...kept.former];
    const former = before
      .map((one) => ({ ...one, endsAt: Math.min(one.endsAt, endsAt) }))
      .filter((one) => one.endsAt > now)
      .slice(0, maxFormer);
    await file.replace({ key, former });
    use({ key, former });
    return {
      id: bootstrapId,
      name: bootstrapId,
      scopes: unrestricted.scopes,
      organization: null,
      allowed_senders: null,
      cidrs: null,
      expires_at: null,
      created_at: toIso(now),
      last_used_at: null,
      old_secret_expires_at: overlapSeconds > 0 ? toIso(endsAt) : null,
      key,
    };
  }

  /**
   * Creates a new key; the old one works for another `overlapSeconds`. Throws like `permitRights`, and `bad_request` if
   * the key comes from the settings.
   */
  async function rotate(caller: Caller, overlapSeconds: number): Promise<ApiKeyWithSecret> {
    permitRights(caller, unrestricted);
    if (store === undefined)
      throw new HeraldError(
        "bad_request",
        "the admin API key of this server comes from HERALD_ADMIN_API_KEY; change that setting on every node instead",
      );
    const rotated = turn.then(() => replace(store, overlapSeconds));
    turn = rotated.catch(() => undefined);
    return await rotated;
  }

  return bootstrap;
}
