import { HeraldError } from "../../contract/errors/errors.ts";
import type { Scope } from "../../contract/keys/scopes.ts";
import { isWithin } from "../../lib/network/networks.ts";
import type { KeyRights } from "../../store/ports.ts";

/** Who calls the admin API, and what the key allows. */
export type Caller = {
  keyId: string;
  /** Those of the key; with an old secret of a rotated key they end when that secret does. */
  rights: KeyRights;
  /** When the secret that was used ends (milliseconds), if it is an old one of a rotated key. */
  secretExpiresAt: number | undefined;
};

/** What no key restricts. */
export const unrestricted: KeyRights = { scopes: ["*"], org: null, senders: null, networks: null, expiresAt: null };

/** Who calls an open operation: somebody who may do nothing that needs a key. */
export const nobody: Caller = { keyId: "", rights: { ...unrestricted, scopes: [] }, secretExpiresAt: undefined };

/** Throws `insufficient_scope` unless the key has the scope, or all of them. */
export function permitScope({ rights }: Caller, scope: Scope): void {
  if (!hasScope(rights, scope)) {
    throw new HeraldError("insufficient_scope", `this call needs a key with the scope \`${scope}\``);
  }
}

/**
 * Throws `organization_forbidden` when the key is bound to another organization; `undefined` stands for all of the server.
 * Asked before anything is looked up, so that the answer is the same whether the organization exists or not.
 */
export function permitOrganization({ rights }: Caller, org: string | undefined): void {
  if (rights.org !== null && rights.org !== org) throw new HeraldError("organization_forbidden");
}

/** Throws `sender_forbidden` unless the key may send as this user. */
export function permitSender({ rights }: Caller, uid: string): void {
  if (rights.senders !== null && !rights.senders.includes(uid)) throw new HeraldError("sender_forbidden");
}

/** Throws unless the caller may everything that a key with these rights may: who hands out a key, hands on their own rights. */
export function permitRights(caller: Caller, { scopes, org, senders, networks, expiresAt }: KeyRights): void {
  const own = caller.rights;
  const beyond = scopes.find((scope) => !hasScope(own, scope));
  if (beyond !== undefined) throw tooMuch(`your key has not the scope \`${beyond}\`, so it cannot hand it on`);
  permitOrganization(caller, org ?? undefined);
  if (own.senders !== null && senders === null) throw new HeraldError("sender_forbidden");
  for (const uid of senders ?? []) permitSender(caller, uid);
  const ownNetworks = own.networks;
  if (ownNetworks !== null && !(networks?.every((network) => isWithin(network, ownNetworks)) ?? false)) {
    throw tooMuch("your key may be used from certain networks only, so it cannot hand on others");
  }
  if (own.expiresAt !== null && (expiresAt === null || expiresAt > own.expiresAt)) {
    throw tooMuch("your key, or the old secret that you use, ends before that key would");
  }
}

function hasScope({ scopes }: KeyRights, scope: Scope): boolean {
  return scopes.includes(scope) || scopes.includes("*");
}

function tooMuch(detail: string): HeraldError {
  return new HeraldError("insufficient_scope", detail);
}
