import { HeraldError, invalidKey } from "../../contract/errors/errors.ts";
import { errorAbout } from "../../contract/errors/naming.ts";
import { hasScope } from "../../contract/keys/reach.ts";
import type { Scope } from "../../contract/keys/scopes.ts";
import { isWithin } from "../../lib/network/networks.ts";
import type { KeyReads, KeyRights } from "../../store/keys/ports.ts";
import type { KeyProof } from "../../store/ports.ts";

/** The caller of the admin API, and what its key allows. */
export type Caller = {
  keyId: string;
  /** The rights of the key; they end early if the secret in use does. */
  rights: KeyRights;
  /** When the secret in use expires, in milliseconds since the Unix epoch, if it is an old one of a rotated key. */
  secretExpiresAt: number | undefined;
  /** The digest of the secret in use; `undefined` if the key is not in the database, such as the bootstrap key. */
  digest: string | undefined;
  /** Of a person or a workload that the OpenID provider vouches for, instead of a key. */
  person?: {
    name: string;
    /** The organizations in which it may do anything; `null` means all. */
    organizations: string[] | null;
    /** The session of a person who signed in. */
    session: { id: string; expiresAt: number } | undefined;
  };
  /** What the caller may do in an organization, if that differs between organizations; `undefined` if nothing. */
  within?(org: string): Caller | undefined;
};

/** The rights of a key without restrictions. */
export const unrestricted: KeyRights = { scopes: ["*"], org: null, senders: null, networks: null, expiresAt: null };

/** Stands for the organization of a caller that has several, as long as a call has not named one: it equals none. */
export const noOrganization = "";

/** The caller as it may act in the organization that a call names. */
export function boundTo(caller: Caller, org: string | undefined): Caller {
  return (org === undefined ? undefined : caller.within?.(org)) ?? caller;
}

/** A caller without a key in the database, or without the secret of one; by default with all rights. */
export function unlisted(keyId: string, rights: KeyRights = unrestricted): Caller {
  return { keyId, rights, secretExpiresAt: undefined, digest: undefined };
}

/** The caller of what the server does of itself. */
export const theServer: Caller = unlisted("");

/** The caller of an open operation, who has no scope. */
export const nobody: Caller = unlisted("", { ...unrestricted, scopes: [] });

/**
 * What a write that creates or widens a right checks again in its transaction: this node may not know yet that the key was
 * revoked. `undefined` if the key is not in the database.
 */
export function proofOf({ keyId, rights, digest }: Caller, now: number): KeyProof | undefined {
  return digest === undefined ? undefined : { id: keyId, org: rights.org, digest, now };
}

/** Throws `unauthorized` unless the caller's key is still valid: for what creates a right, but not in a transaction of the database. */
export async function requireValidKey(keys: Pick<KeyReads, "isValid">, caller: Caller, now: number): Promise<void> {
  const proof = proofOf(caller, now);
  if (proof !== undefined && !(await keys.isValid(proof))) throw invalidKey();
}

const ofWholeServer =
  "the key is bound to an organization, and this call concerns the whole server; use a key that is not bound to any organization";
const ofSeveral =
  "your roles are for certain organizations, and this call concerns the whole server or does not name one of them";
const ofAnySender =
  "your key may send only as certain users, so it cannot grant sending as any user; name some of them in `allowed_senders`";

/** Throws `insufficient_scope` unless the key has the scope, one of the scopes, or all scopes. */
export function permitScope({ rights }: Caller, scope: Scope | readonly Scope[]): void {
  if (hasScope(rights.scopes, scope)) return;
  const names = [scope]
    .flat()
    .map((one) => `\`${one}\``)
    .join(" or ");
  throw new HeraldError("insufficient_scope", `this call requires a key with the scope ${names}`);
}

/**
 * Throws `organization_forbidden` if the key is bound to another organization; `undefined` stands for the whole server.
 * Called before any lookup, so that the answer does not reveal whether the organization exists.
 */
export function permitOrganization({ rights }: Caller, org: string | undefined): void {
  if (rights.org === noOrganization && (org === undefined || org === noOrganization))
    throw new HeraldError("organization_forbidden", ofSeveral);
  if (rights.org === null || rights.org === org) return;
  throw org === undefined
    ? new HeraldError("organization_forbidden", ofWholeServer)
    : errorAbout("organization_forbidden", { organization: org });
}

/** Throws `sender_forbidden` unless the key may send as this user. */
export function permitSender({ rights }: Caller, uid: string): void {
  if (rights.senders !== null && !rights.senders.includes(uid)) throw errorAbout("sender_forbidden", { sender: uid });
}

/** Throws unless the caller has all these rights: a caller may hand on only rights of its own. */
export function permitRights(caller: Caller, rights: KeyRights): void {
  permitReach(caller, rights, { scope: "grant it", networks: "grant access from others" });
  const own = caller.rights;
  if (own.expiresAt !== null && (rights.expiresAt === null || rights.expiresAt > own.expiresAt)) {
    throw tooMuch("your key, or the old secret that you are using, expires before the new key would");
  }
}

/**
 * Throws unless the caller may revoke a key with these rights: its own, or one that may do no more than it, however long that
 * lives. Otherwise a stolen key with few rights could lock out everyone.
 */
export function permitRevocation(caller: Caller, { id, ...rights }: KeyRights & { id: string }): void {
  if (id === caller.keyId) return;
  permitReach(caller, rights, { scope: "revoke a key that has it", networks: "revoke a key for others" });
}

/** Throws unless the caller may do whatever a key with these rights may. The texts say what it wants to do with them. */
function permitReach(
  caller: Caller,
  { scopes, org, senders, networks }: KeyRights,
  so: { scope: string; networks: string },
): void {
  const own = caller.rights;
  const beyond = scopes.find((scope) => !hasScope(own.scopes, scope));
  if (beyond !== undefined)
    throw tooMuch(`your key does not have the scope \`${beyond}\`, so it cannot ${so.scope}; use a key that has it`);
  permitOrganization(caller, org ?? undefined);
  if (own.senders !== null && senders === null) throw new HeraldError("sender_forbidden", ofAnySender);
  for (const uid of senders ?? []) permitSender(caller, uid);
  const ownNetworks = own.networks;
  if (ownNetworks !== null && !(networks?.every((network) => isWithin(network, ownNetworks)) ?? false)) {
    throw tooMuch(`your key is limited to certain networks, so it cannot ${so.networks}`);
  }
}

function tooMuch(detail: string): HeraldError {
  return new HeraldError("insufficient_scope", detail);
}
