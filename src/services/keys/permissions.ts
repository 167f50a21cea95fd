import { HeraldError } from "../../contract/errors/errors.ts";
import { errorAbout } from "../../contract/errors/naming.ts";
import type { Scope } from "../../contract/keys/scopes.ts";
import { isWithin } from "../../lib/network/networks.ts";
import type { KeyRights } from "../../store/ports.ts";

/** The caller of the admin API, and what its key allows. */
export type Caller = {
  keyId: string;
  /** The rights of the key; they end early if the secret in use does. */
  rights: KeyRights;
  /** When the secret in use expires, in milliseconds since the Unix epoch, if it is an old one of a rotated key. */
  secretExpiresAt: number | undefined;
};

/** The rights of a key without restrictions. */
export const unrestricted: KeyRights = { scopes: ["*"], org: null, senders: null, networks: null, expiresAt: null };

/** The caller of an open operation, who has no scope. */
export const nobody: Caller = { keyId: "", rights: { ...unrestricted, scopes: [] }, secretExpiresAt: undefined };

const ofWholeServer =
  "the key is bound to an organization, and this call concerns the whole server; use a key that is not bound to any organization";
const ofAnySender =
  "your key may send only as certain users, so it cannot grant sending as any user; name some of them in `allowed_senders`";

/** Throws `insufficient_scope` unless the key has the scope, one of the scopes, or all scopes. */
export function permitScope({ rights }: Caller, scope: Scope | readonly Scope[]): void {
  const needed = typeof scope === "string" ? [scope] : scope;
  if (needed.some((one) => hasScope(rights, one))) return;
  const names = needed.map((one) => `\`${one}\``).join(" or ");
  throw new HeraldError("insufficient_scope", `this call requires a key with the scope ${names}`);
}

/**
 * Throws `organization_forbidden` if the key is bound to another organization; `undefined` stands for the whole server.
 * Called before any lookup, so that the answer does not reveal whether the organization exists.
 */
export function permitOrganization({ rights }: Caller, org: string | undefined): void {
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
export function permitRights(caller: Caller, { scopes, org, senders, networks, expiresAt }: KeyRights): void {
  const own = caller.rights;
  const beyond = scopes.find((scope) => !hasScope(own, scope));
  if (beyond !== undefined) throw tooMuch(`your key does not have the scope \`${beyond}\`, so it cannot grant it`);
  permitOrganization(caller, org ?? undefined);
  if (own.senders !== null && senders === null) throw new HeraldError("sender_forbidden", ofAnySender);
  for (const uid of senders ?? []) permitSender(caller, uid);
  const ownNetworks = own.networks;
  if (ownNetworks !== null && !(networks?.every((network) => isWithin(network, ownNetworks)) ?? false)) {
    throw tooMuch("your key is limited to certain networks, so it cannot grant access from others");
  }
  if (own.expiresAt !== null && (expiresAt === null || expiresAt > own.expiresAt)) {
    throw tooMuch("your key, or the old secret that you are using, expires before the new key would");
  }
}

function hasScope({ scopes }: KeyRights, scope: Scope): boolean {
  return scopes.includes(scope) || scopes.includes("*");
}

function tooMuch(detail: string): HeraldError {
  return new HeraldError("insufficient_scope", detail);
}
