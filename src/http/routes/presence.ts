import type { Operations } from "../../contract/operations/all.ts";
import type { Nodes } from "../../services/nodes/nodes.ts";
import type { Presence } from "../../services/presence.ts";
import type { Bind } from "../bind.ts";

type Services = { presence: Presence; nodes: Pick<Nodes, "list"> };

/** Binds presence and the list of nodes. */
export function bindPresence(bind: Bind, operations: Operations, { presence, nodes }: Services): void {
  bind(operations.listOnline, async ({ params, query: { count, uids, devices, ...page } }) => ({
    status: 200,
    body: count ? await presence.count(params.org, uids) : await presence.list(params.org, { ...page, uids, devices }),
  }));
  bind(operations.listNodes, async () => ({ status: 200, body: await nodes.list() }));
}
