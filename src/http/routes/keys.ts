import type { Operations } from "../../contract/operations/all.ts";
import type { Keys } from "../../services/keys.ts";
import type { Bind } from "../bind.ts";

/** API keys. */
export function bindKeys(bind: Bind, operations: Operations, keys: Keys): void {
  bind(operations.createKey, async ({ caller, body }) => ({ status: 201, body: await keys.create(caller, body) }));
  bind(operations.listKeys, async ({ caller, query }) => ({ status: 200, body: await keys.list(caller, query) }));
  bind(operations.getKey, async ({ caller, params }) => ({ status: 200, body: await keys.get(caller, params.id) }));
  bind(operations.rotateKey, async ({ caller, params, body }) => ({
    status: 200,
    body: await keys.rotate(caller, params.id, body.overlap_seconds),
  }));
  bind(operations.deleteKey, async ({ caller, params }) => {
    await keys.revoke(caller, params.id);
    return { status: 204 };
  });
}
