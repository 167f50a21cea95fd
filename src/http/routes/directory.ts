import type { Operations } from "../../contract/operations/all.ts";
import type { Directory, PutResource } from "../../services/directory/directory.ts";
import type { Erasures } from "../../services/directory/erasure.ts";
import type { OrganizationDirectory } from "../../services/directory/organizations.ts";
import type { Bind } from "../bind.ts";
import type { Answer } from "../call/handler.ts";

type Services = { directory: Directory; organizations: OrganizationDirectory; erasures: Erasures };

/** The answer to a `PUT`: 201 if it created something, 200 if that existed. */
export function putAnswer({ resource, isNew }: PutResource): Answer {
  return { status: isNew ? 201 : 200, body: resource };
}

/** Binds organizations, users, tokens and sessions. */
export function bindDirectory(bind: Bind, operations: Operations, services: Services): void {
  const { directory, organizations, erasures } = services;
  bind(operations.putOrganization, async ({ caller, params, body }) =>
    putAnswer(await organizations.put(caller, params.org, body)),
  );
  bind(operations.getOrganization, async ({ params }) => ({
    status: 200,
    body: await organizations.get(params.org),
  }));
  bind(operations.deleteOrganization, async ({ params }) => {
    await directory.deleteOrganization(params.org);
    return { status: 204 };
  });
  bind(operations.listOrganizations, async ({ caller, query }) => ({
    status: 200,
    body: await directory.listOrganizations(query, caller.rights.org),
  }));
  bind(operations.putUser, async ({ caller, params, body }) =>
    putAnswer(await directory.putUser(caller, params.org, params.uid, body)),
  );
  bind(operations.getUser, async ({ params }) => ({
    status: 200,
    body: await directory.getUser(params.org, params.uid),
  }));
  bind(operations.deleteUser, async ({ caller, params: { org, uid }, query }, call) => {
    if (query.messages === undefined) {
      await directory.deleteUser(org, uid);
      return { status: 204 };
    }
    const erased = await erasures.erase({ org, uid, keyId: caller.keyId }, call());
    if (erased !== undefined) return { status: 204, target: { erased: String(erased) } };
    await directory.deleteUser(org, uid); // says what is missing
    return { status: 204 };
  });
  bind(operations.listUsers, async ({ params, query }) => ({
    status: 200,
    body: await directory.listUsers(params.org, query),
  }));
  bind(operations.createToken, async ({ caller, params, body }) => ({
    status: 201,
    body: await directory.createToken(caller, { ...params, ttlSeconds: body.ttl_seconds }),
  }));
  bind(operations.revokeToken, async ({ params }) => {
    await directory.revokeToken(params.org, params.uid, params.jti);
    return { status: 204 };
  });
  bind(operations.deleteSessions, async ({ params }) => {
    await directory.endSessions(params.org, params.uid);
    return { status: 204 };
  });
}
