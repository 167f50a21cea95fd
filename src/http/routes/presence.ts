import type { Operations } from "../../contract/operations/all.ts";
import type { Feeds } from "../../services/feeds.ts";
import type { Nodes } from "../../services/nodes/nodes.ts";
import type { Presence } from "../../services/presence.ts";
import { answerDone, answerShowing } from "../answers/plain-answers.ts";
import type { Bind } from "../bind.ts";

type Services = { presence: Presence; feeds: Feeds; nodes: Pick<Nodes, "list"> };

/** Binds presence, the live feed of an organization, and the list of nodes. */
export function bindPresence(bind: Bind, operations: Operations, { presence, feeds, nodes }: Services): void {
  bind(operations.listOnline, async ({ params, query: { count, uids, devices, ...page } }) => ({
    status: 200,
    body: count ? await presence.count(params.org, uids) : await presence.list(params.org, { ...page, uids, devices }),
  }));
  bind(operations.streamEvents, async ({ params: { org }, query: filter }, call) => {
    const { address, request, permit, endSoon } = call();
    const stream = await feeds.open({ org, filter, address, signal: request.signal, permit, onEnd: endSoon });
    return { status: 200, stream };
  });
  bind(operations.listConnections, ({ params: { org, uid } }) => answerShowing(presence.connectionsOf(org, uid)));
  bind(operations.closeConnection, ({ params: { org, uid, connection_id } }) =>
    answerDone(presence.closeConnection(org, uid, connection_id)),
  );
  bind(operations.listNodes, () => answerShowing(nodes.list()));
}
