import { createHash } from "node:crypto";
import { isIdentifier } from "../../contract/identifiers.ts";
import { hasScope } from "../../contract/keys/reach.ts";
import type { Scope } from "../../contract/keys/scopes.ts";
import type { Role } from "../../contract/people/roles.ts";
import type { KeyRights } from "../../store/keys/ports.ts";
import { type Caller, noOrganization, unlisted, unrestricted } from "../keys/permissions.ts";

/** Somebody whom the provider vouches for: a person, or a workload. */
export type Principal = {
  /** The `sub` at the provider. */
  subject: string;
  /** What people call the principal, such as an address. */
  name: string;
  roles: readonly Role[];
  /** When what it may do ends, in milliseconds since the Unix epoch; `null` if it can be renewed without a limit. */
  expiresAt: number | null;
  /** The session of a person who signed in. */
  session?: { id: string; expiresAt: number };
};

const idPrefix = "oidc:";

/**
 * Names a principal where a key's id would stand: `oidc:` and the subject, or a hash of a subject that no identifier could hold. No
 * key has such an id, and all sessions of a person have the same.
 */
export function principalId(subject: string): string {
  const id = idPrefix + subject;
  return isIdentifier(id) ? id : `${idPrefix}sha256-${createHash("sha256").update(subject).digest("base64url")}`;
}

/** Whether an id is that of a principal, not of a key. */
export function isPrincipalId(id: string): boolean {
  return id.startsWith(idPrefix);
}

/** The scopes that roles give anywhere. */
export function scopesOf(roles: readonly Role[]): Scope[] {
  return [...new Set(roles.flatMap(({ scopes }) => scopes))];
}

/** The organizations of roles; `null` if one of them is for all. */
export function organizationsOf(roles: readonly Role[]): string[] | null {
  if (roles.some(({ organizations }) => organizations === undefined)) return null;
  return [...new Set(roles.flatMap(({ organizations = [] }) => organizations))].sort();
}

/**
 * Makes a caller of a principal. Roles of one organization give nothing in another one: as long as a call has not named the
 * organization, the caller may do what the roles for all organizations allow and, without any, nothing.
 */
export function callerOf(principal: Principal): Caller {
  const { subject, name, roles, expiresAt, session } = principal;
  const organizations = organizationsOf(roles);
  const forAll = roles.filter((role) => role.organizations === undefined);
  const [only, ...others] = organizations ?? [];

  const callerWith = (rights: Pick<KeyRights, "scopes" | "org">): Caller => ({
    ...unlisted(principalId(subject), { ...unrestricted, expiresAt, ...rights }),
    person: { name, organizations, session },
  });

  function within(org: string): Caller | undefined {
    const there = scopesOf(roles.filter((role) => role.organizations?.includes(org) ?? true));
    if (there.every((scope) => hasScope(scopesOf(forAll), scope))) return undefined; // as anywhere
    return callerWith({ scopes: there, org });
  }

  if (organizations !== null && only !== undefined && others.length === 0)
    return callerWith({ scopes: scopesOf(roles), org: only });
  if (forAll.length === roles.length && roles.length > 0) return callerWith({ scopes: scopesOf(roles), org: null });
  const caller =
    organizations === null
      ? callerWith({ scopes: scopesOf(forAll), org: null })
      : callerWith({ scopes: scopesOf(roles), org: noOrganization });
  return { ...caller, within };
}
