import type { AuditTarget } from "../../contract/audit.ts";
import type { ApiKey } from "../../contract/keys/keys.ts";
import type { Operations } from "../../contract/operations/all.ts";
import type { Audit } from "../../services/audit.ts";
import type { Keys } from "../../services/keys/keys.ts";
import { answerShowing } from "../answers/plain-answers.ts";
import type { Bind } from "../bind.ts";

/** Binds API keys, and the log of what was done with them. */
export function bindKeys(bind: Bind, operations: Operations, { keys, audit }: { keys: Keys; audit: Audit }): void {
  bind(operations.createKey, async ({ caller, body }) => {
    const made = await keys.create(caller, body);
    return { status: 201, body: made, target: targetOf(made) };
  });
  bind(operations.listKeys, ({ caller, query }) => answerShowing(keys.list(caller, query)));
  bind(operations.getOwnKey, ({ caller }) => answerShowing(keys.getOwn(caller)));
  bind(operations.getKey, ({ caller, params }) => answerShowing(keys.get(caller, params.id)));
  bind(operations.rotateKey, async ({ caller, params, body }) => {
    const rotated = await keys.rotate(caller, params.id, body.overlap_seconds);
    return { status: 200, body: rotated, target: targetOf(rotated) };
  });
  bind(operations.listAudit, ({ caller, query }) => answerShowing(audit.list(caller, query)));
  bind(operations.deleteKey, async ({ caller, params }) => ({
    status: 204,
    target: targetOf(await keys.revoke(caller, params.id)),
  }));
}

function targetOf({ id, organization }: ApiKey): AuditTarget {
  return { key: id, organization: organization ?? undefined };
}
