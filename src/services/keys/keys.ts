import { invalidRequest } from "../../contract/errors/errors.ts";
import { absent, errorAbout } from "../../contract/errors/naming.ts";
import { toIso } from "../../contract/identifiers.ts";
import { createApiKey } from "../../contract/keys/api-key.ts";
import type { ApiKey, ApiKeyWithSecret, CreateKeyRequest, OwnKey } from "../../contract/keys/keys.ts";
import { hasScope } from "../../contract/keys/reach.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { ApiKeys, KeyRights, StoredKey } from "../../store/keys/ports.ts";
import type { EntityPage } from "../../store/ports.ts";
import { type Page, type PageQuery, pageOf } from "../pages.ts";
import { type BootstrapKey, bootstrapId } from "./bootstrap-key.ts";
import type { KeyCache, KeyDigest } from "./key-cache.ts";
import {
  boundTo,
  type Caller,
  noOrganization,
  permitRevocation,
  permitRights,
  permitScope,
  proofOf,
  requireValidKey,
} from "./permissions.ts";

/** Creates, lists, rotates and revokes API keys. A caller bound to an organization sees only its keys. */
export type Keys = ReturnType<typeof createKeys>;

/** The most secrets of one key: the newest, and earlier ones that still work. */
const maxSecrets = 5;

type Dependencies = {
  keys: ApiKeys;
  bootstrap: Pick<BootstrapKey, "rotate">;
  digest: KeyDigest;
  cache: Pick<KeyCache, "refresh">;
  clock: Clock;
};

/**
 * Creates API keys on the store. The node asks the store again after each change, so that it takes effect here at once.
 */
export function createKeys({ keys, bootstrap, digest, cache, clock }: Dependencies) {
  const hashed = (key: string) => ({ digest: digest.of(key).toString("base64url"), pepper: digest.pepper });

  /** The key, and the caller as it may manage keys of that key's organization. */
  async function find(caller: Caller, id: string): Promise<{ key: StoredKey; by: Caller }> {
    const key = await keys.get(id);
    const by = boundTo(caller, key?.org ?? undefined);
    const isSeen = key !== undefined && (by.rights.org === null || by.rights.org === key.org);
    if (!isSeen) throw absent("API key", id);
    permitScope(by, "keys:manage");
    return { key, by };
  }

  /** The organizations whose keys the caller may see; `undefined` stands for the whole server. */
  function organizationsOf({ rights, person, within }: Caller): (string | undefined)[] {
    if (rights.org !== noOrganization) return [rights.org ?? undefined];
    const mayManage = (org: string) => hasScope(within?.(org)?.rights.scopes ?? [], "keys:manage");
    return person?.organizations?.filter(mayManage) ?? [];
  }

  function show(key: StoredKey): ApiKey {
    const { id, name, scopes, org, senders, networks, expiresAt, createdAt, lastUsedAt } = key;
    const oldSecretsEnd = Math.max(...key.secrets.map((secret) => secret.expiresAt ?? 0));
    return {
      id,
      name,
      scopes,
      organization: org,
      allowed_senders: senders,
      cidrs: networks,
      expires_at: toIsoOrNull(expiresAt),
      created_at: toIso(createdAt),
      last_used_at: toIsoOrNull(lastUsedAt),
      old_secret_expires_at: toIsoOrNull(oldSecretsEnd > clock.now() ? oldSecretsEnd : null),
    };
  }

  return {
    /** Throws like `permitRights` for a key with more rights than the caller's, and `organization_not_found`. */
    async create(caller: Caller, { name, ...request }: CreateKeyRequest): Promise<ApiKeyWithSecret> {
      const now = clock.now();
      const rights = rightsOf(request, caller.rights);
      if (rights.expiresAt !== null && rights.expiresAt <= now)
        throw invalidRequest("/expires_at", "must be in the future");
      permitRights(caller, rights);
      const { id, key } = createApiKey();
      const stored = { ...rights, id, name, createdAt: now };
      if (!(await keys.create({ ...stored, ...hashed(key), createdBy: caller.keyId }, proofOf(caller, now))))
        throw errorAbout("organization_not_found", { organization: rights.org ?? "" });
      await cache.refresh(id);
      return { ...show({ ...stored, secrets: [], lastUsedAt: null }), key };
    },
    async list(caller: Caller, query: PageQuery): Promise<Page<ApiKey>> {
      const read = async (page: EntityPage) => {
        const lists = await Promise.all(organizationsOf(caller).map((org) => keys.list({ ...page, org })));
        return lists
          .flat()
          .sort((left, right) => (left.id < right.id ? -1 : 1))
          .slice(0, page.limit);
      };
      return await pageOf(query, read, show);
    },
    /** Throws `not_found`, like the others, even for keys hidden from the caller. */
    get: async (caller: Caller, id: string): Promise<ApiKey> => show((await find(caller, id)).key),
    /** The caller's own key; expires with the secret in use if that is earlier. */
    async getOwn({ keyId, rights: { scopes, org, senders, expiresAt }, person }: Caller): Promise<OwnKey> {
      const key = person === undefined ? await keys.get(keyId) : undefined;
      return {
        id: key === undefined ? null : keyId,
        key_id: keyId,
        name: person?.name ?? key?.name ?? bootstrapId,
        scopes,
        organization: org === noOrganization ? null : org,
        organizations: org === noOrganization ? (person?.organizations ?? []) : null,
        allowed_senders: senders,
        expires_at: toIsoOrNull(person?.session?.expiresAt ?? expiresAt),
        session_id: person?.session?.id ?? null,
      };
    },
    /**
     * Creates a new secret for a key with no more rights than the caller; the old one works for another `overlapSeconds`.
     * Also rotates the bootstrap key.
     */
    async rotate(caller: Caller, id: string, overlapSeconds: number): Promise<ApiKeyWithSecret> {
      const now = clock.now();
      if (id === bootstrapId && caller.rights.org === null) {
        await requireValidKey(keys, caller, now);
        return await bootstrap.rotate(caller, overlapSeconds);
      }
      const { key: present, by } = await find(caller, id);
      permitRights(by, present);
      const { key } = createApiKey(id);
      const rotation = { ...hashed(key), othersEndAt: now + overlapSeconds * 1000, keep: maxSecrets, now };
      const rotated = await keys.rotate(id, rotation, proofOf(caller, now));
      if (rotated === undefined) throw absent("API key", id);
      await cache.refresh(id);
      return { ...show(rotated), key };
    },
    /**
     * Throws like `permitRevocation`. Takes effect on this node before it resolves, on others when they next ask the store
     * for changes. Returns the key as it was.
     */
    async revoke(caller: Caller, id: string): Promise<ApiKey> {
      const { key, by } = await find(caller, id);
      permitRevocation(by, key);
      const now = clock.now();
      await keys.revoke(id, now, proofOf(caller, now));
      await cache.refresh(id);
      return show(key);
    },
  };
}

/** The requested rights; omitted ones are copied from the caller's key. */
function rightsOf(request: Omit<CreateKeyRequest, "name">, own: KeyRights): KeyRights {
  const { scopes, organization, allowed_senders: senders, cidrs, expires_at: expiresAt } = request;
  return {
    scopes,
    org: organization === undefined ? own.org : organization,
    senders: senders === undefined ? own.senders : senders,
    networks: cidrs === undefined ? own.networks : cidrs,
    expiresAt: expiresAt === undefined ? own.expiresAt : expiresAt === null ? null : Date.parse(expiresAt),
  };
}

function toIsoOrNull(milliseconds: number | null): string | null {
  return milliseconds === null ? null : toIso(milliseconds);
}
