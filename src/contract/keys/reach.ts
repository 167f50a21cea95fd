import type { Operation } from "../operations/operation.ts";
import type { Scope } from "./scopes.ts";

/** What a key may do and where: its scopes, and the organization that it is bound to, if any. */
export type Reach = { scopes: readonly Scope[]; org: string | null };

/** Whether a key with these scopes has one of those that are needed. */
export function hasScope(scopes: readonly Scope[], needed: Scope | readonly Scope[]): boolean {
  return scopes.includes("*") || [needed].flat().some((one) => scopes.includes(one));
}

/** Whether a key may call an operation at all; which organizations, senders and scopes it may name there is another matter. */
export function mayCall(
  { scope, path, limitsItself = false }: Pick<Operation, "scope" | "path" | "limitsItself">,
  { scopes, org }: Reach,
): boolean {
  if (scope !== undefined && scope !== "any" && !hasScope(scopes, scope)) return false;
  return scope === undefined || org === null || limitsItself || path.includes("{org}");
}
