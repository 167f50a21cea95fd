import type { Resource, User } from "../../contract/directory.ts";
import type { HeraldError } from "../../contract/errors/errors.ts";
import { errorAbout } from "../../contract/errors/naming.ts";
import { toIso } from "../../contract/identifiers.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { KeyReads } from "../../store/keys/ports.ts";
import type { Entity, EntityPage, Organizations, Put, Users } from "../../store/ports.ts";
import { type Caller, proofOf, requireValidKey } from "../keys/permissions.ts";
import { type Page, type PageQuery, type PrefixQuery, pageOf, pageOfMatches, toResource, toUser } from "../pages.ts";
import type { Tokens } from "../sessions/tokens.ts";

/** The result of a `PUT`. */
export type PutResource = { resource: Resource; isNew: boolean };

/** The changes of a `PUT` of a user; omitted fields stay as they are. */
export type UserChange = { name?: string | null | undefined; blocked?: boolean | undefined };

type Dependencies = {
  organizations: Organizations;
  users: Users;
  keys: Pick<KeyReads, "isValid">;
  tokens: Tokens;
  clock: Clock;
};

/** The resource of a `PUT`; throws `organization_not_found` if it found no organization. */
export function toPutResource(put: Put | undefined, organization: string): PutResource {
  if (put === undefined) throw errorAbout("organization_not_found", { organization });
  return { resource: toResource(put.entity), isNew: put.isNew };
}

/** Throws `organization_not_found` unless the organization exists. */
export async function requireOrganization(organizations: Pick<Organizations, "get">, org: string): Promise<Entity> {
  const entity = await organizations.get(org);
  if (entity === undefined) throw errorAbout("organization_not_found", { organization: org });
  return entity;
}

/** Throws `error` about something that an organization does not have, or `organization_not_found` if there is no such organization. */
export async function refuseMissing(
  organizations: Pick<Organizations, "get">,
  org: string,
  error: HeraldError,
): Promise<never> {
  await requireOrganization(organizations, org);
  throw error;
}

/** Throws `user_not_found` or `organization_not_found` unless the user exists. */
export async function requireUser(
  { organizations, users }: { organizations: Pick<Organizations, "get">; users: Pick<Users, "get"> },
  org: string,
  uid: string,
): Promise<Entity> {
  const user = await users.get(org, uid);
  return user ?? (await refuseMissing(organizations, org, errorAbout("user_not_found", { user: uid })));
}

/** Creates the directory of organizations and users. */
export function createDirectory(dependencies: Dependencies) {
  const { organizations, users, keys, tokens, clock } = dependencies;

  return {
    /** Creates or renames an organization for the server itself; calls use `OrganizationDirectory`. */
    async putOrganization(org: string, name: string): Promise<PutResource> {
      return toPutResource(await organizations.put(org, name, clock.now()), org);
    },
    /** Deletes an organization with everything in it, and closes its connections. */
    async deleteOrganization(org: string): Promise<void> {
      if (!(await organizations.remove(org, clock.now())))
        throw errorAbout("organization_not_found", { organization: org });
    },
    /** Lists all organizations, or just the one that the caller is bound to. */
    async listOrganizations(query: PageQuery, { rights, person }: Caller): Promise<Page<Resource>> {
      const only = rights.org === null ? null : (person?.organizations ?? [rights.org]);
      const read = async ({ after = "", ...page }: EntityPage) => {
        if (only === null) return await organizations.list({ ...page, after });
        const wanted = only.filter((org) => org > after).slice(0, page.limit);
        return (await Promise.all(wanted.map(organizations.get))).filter((one) => one !== undefined);
      };
      return await pageOf(query, read, toResource);
    },
    /** Creates or updates a user; omitted fields stay as they are. Blocking a user closes all connections. */
    async putUser(caller: Caller, org: string, uid: string, { name, blocked }: UserChange): Promise<PutResource> {
      const now = clock.now();
      const put = await users.put(org, uid, name, now, blocked, proofOf(caller, now));
      if (put === undefined) throw errorAbout("organization_not_found", { organization: org });
      return { resource: toUser(put.entity), isNew: put.isNew };
    },
    async getUser(org: string, uid: string): Promise<User> {
      return toUser(await requireUser(dependencies, org, uid));
    },
    /** Deletes a user: removes them from all conversations, closes their connections and refuses their tokens. */
    async deleteUser(org: string, uid: string): Promise<void> {
      if (!(await users.remove(org, uid, clock.now()))) await requireUser(dependencies, org, uid);
    },
    async listUsers(org: string, query: PrefixQuery): Promise<Page<User>> {
      await requireOrganization(organizations, org);
      return await pageOfMatches(query, org, users, toUser);
    },
    /** Issues a token that is valid even if the user was signed out a moment ago. */
    async createToken(
      caller: Caller,
      { org, uid, ttlSeconds }: { org: string; uid: string; ttlSeconds: number },
    ): Promise<{ token: string; expires_at: string }> {
      await requireUser(dependencies, org, uid);
      await requireValidKey(keys, caller, clock.now());
      const { token, expiresAt } = await tokens.issue({
        org,
        uid,
        ttlSeconds,
        issuedAfter: await users.tokensValidAfter(org, uid),
      });
      return { token, expires_at: toIso(expiresAt) };
    },
    /** Revokes one token; does nothing if it is revoked already. */
    async revokeToken(org: string, uid: string, jti: string): Promise<void> {
      if (!(await users.revokeToken(org, uid, jti, clock.now()))) await requireUser(dependencies, org, uid);
    },
    /** Signs a user out everywhere. */
    async endSessions(org: string, uid: string): Promise<void> {
      if (!(await users.endSessions(org, uid, clock.now()))) await requireUser(dependencies, org, uid);
    },
  };
}

/** The directory of organizations and users. */
export type Directory = ReturnType<typeof createDirectory>;
