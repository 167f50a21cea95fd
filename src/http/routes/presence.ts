import { invalidRequest } from "../../contract/errors/errors.ts";
import { placeIn } from "../../contract/log/log-place.ts";
import type { Operations } from "../../contract/operations/all.ts";
import type { Feeds } from "../../services/feeds.ts";
import type { Nodes } from "../../services/nodes/nodes.ts";
import type { OnlineUsers } from "../../services/online-users.ts";
import type { Presence } from "../../services/presence.ts";
import { answerCloudEvents, asksForCloudEvents } from "../answers/cloud-events.ts";
import { answerDone, answerShowing } from "../answers/plain-answers.ts";
import type { Bind } from "../bind.ts";

type Services = { presence: Presence; onlineUsers: OnlineUsers; feeds: Feeds; nodes: Pick<Nodes, "list"> };

/** Binds presence, the live feed of an organization, and the list of nodes. */
export function bindPresence(
  bind: Bind,
  operations: Operations,
  { presence, onlineUsers, feeds, nodes }: Services,
): void {
  bind(operations.listOnline, async ({ params, query: { count, last_seen, ...page } }) => ({
    status: 200,
    body: count
      ? await presence.count(params.org, page.uids)
      : await presence.list(params.org, { ...page, lastSeen: last_seen }),
  }));
  bind(operations.listOnlineUsers, ({ caller, body }) => answerShowing(onlineUsers.list(caller, body)));
  bind(operations.streamEvents, async ({ params: { org }, query, headers }, call) => {
    const { after, lastEventId, limit, ...filter } = query;
    const { address, request, permit, pay, endSoon } = call();
    const wish = { org, filter, after: lastEventIdIn(headers) ?? lastEventId ?? after, pay };
    if (asksForCloudEvents(headers)) return answerCloudEvents(request.url, await feeds.page({ ...wish, limit }));
    const stream = await feeds.open({ ...wish, address, signal: request.signal, permit, onEnd: endSoon });
    return { status: 200, stream };
  });
  bind(operations.listConnections, ({ params: { org, uid } }) => answerShowing(presence.connectionsOf(org, uid)));
  bind(operations.closeConnection, ({ params: { org, uid, connection_id } }) =>
    answerDone(presence.closeConnection(org, uid, connection_id)),
  );
  bind(operations.listNodes, ({ query }) => answerShowing(nodes.list(query)));
}

function lastEventIdIn(headers: Headers): string | undefined {
  const given = headers.get("last-event-id");
  if (given === null || given === "") return undefined;
  if (placeIn(given) !== undefined) return given;
  const detail = "`Last-Event-ID` must be the `id:` of an event of this feed, unchanged; to begin now, leave it out";
  throw invalidRequest("", detail, detail);
}
