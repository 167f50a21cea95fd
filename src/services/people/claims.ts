import type { Role, RoleTable } from "../../contract/people/roles.ts";
import { isObject } from "../../lib/json/json-values.ts";

/** What a provider says about somebody. */
export type Claims = Record<string, unknown>;

const mostShown = 20;

/** The roles that these claims give. */
export function rolesOf(table: RoleTable, claims: Claims): Role[] {
  return Object.entries(table).flatMap(([name, roles]) =>
    valuesOf(claims, name).flatMap((value) => {
      const role = Object.hasOwn(roles, value) ? roles[value] : undefined;
      return role === undefined ? [] : [role];
    }),
  );
}

/** The values of the claims that can give roles, as far as they came, for somebody who has none. */
export function claimedValues(table: RoleTable, claims: Claims): Record<string, string[]> {
  return Object.fromEntries(
    Object.keys(table).map((name) => [name, [...new Set(valuesOf(claims, name))].slice(0, mostShown)]),
  );
}

/** What to call somebody: the address if the provider has verified it, or else a name, or else the subject. */
export function nameIn(claims: Claims): string {
  const candidates = [
    ...(claims.email_verified === true ? [claims.email] : []),
    claims.preferred_username,
    claims.name,
    claims.client_id,
    claims.sub,
  ];
  const name = candidates.find((one) => typeof one === "string" && one.trim() !== "");
  return String(name ?? "")
    .slice(0, 256)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, " ");
}

/**
 * The values of a claim, which may be one or several. A name such as `realm_access.roles` is that of a claim, or else a path. An
 * address that the provider has not verified could be anybody's, so it counts as none.
 */
function valuesOf(claims: Claims, name: string): string[] {
  if (name === "email" && claims.email_verified !== true) return [];
  const found = Object.hasOwn(claims, name) ? claims[name] : at(claims, name.split("."));
  return [found].flat().flatMap((value) => (isScalar(value) ? [String(value)] : []));
}

function at(value: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  return isObject(value) && Object.hasOwn(value, name) ? at(value[name], rest) : undefined;
}

function isScalar(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}
