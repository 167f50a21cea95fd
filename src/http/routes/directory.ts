import type { Operations } from "../../contract/operations/all.ts";
import type { Directory } from "../../services/directory/directory.ts";
import type { Erasures } from "../../services/directory/erasure.ts";
import type { OrganizationDirectory } from "../../services/directory/organizations.ts";
import { answerDone, answerPut, answerShowing } from "../answers/plain-answers.ts";
import type { Bind } from "../bind.ts";

type Services = { directory: Directory; organizations: OrganizationDirectory; erasures: Erasures };

/** Binds organizations, users, tokens and sessions. */
export function bindDirectory(bind: Bind, operations: Operations, services: Services): void {
  const { directory, organizations, erasures } = services;
  bind(operations.putOrganization, ({ caller, params, body }) =>
    answerPut(organizations.put(caller, params.org, body)),
  );
  bind(operations.getOrganization, ({ params }) => answerShowing(organizations.get(params.org)));
  bind(operations.deleteOrganization, ({ params }) => answerDone(directory.deleteOrganization(params.org)));
  bind(operations.listOrganizations, ({ caller, query }) => answerShowing(directory.listOrganizations(query, caller)));
  bind(operations.putUser, ({ caller, params, body }) =>
    answerPut(directory.putUser(caller, params.org, params.uid, body)),
  );
  bind(operations.getUser, ({ params }) => answerShowing(directory.getUser(params.org, params.uid)));
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
  bind(operations.listUsers, ({ params, query }) => answerShowing(directory.listUsers(params.org, query)));
  bind(operations.createToken, async ({ caller, params, body }) => ({
    status: 201,
    body: await directory.createToken(caller, { ...params, ttlSeconds: body.ttl_seconds }),
  }));
  bind(operations.revokeToken, ({ params }) => answerDone(directory.revokeToken(params.org, params.uid, params.jti)));
  bind(operations.deleteSessions, ({ params }) => answerDone(directory.endSessions(params.org, params.uid)));
}
