import type { ConnectionsQuestion, LastTold, NodeConnection, PresenceAnswer, PresenceQuestion } from "../bus/bus.ts";
import { toIso } from "../contract/identifiers.ts";
import { maxUsersWithDevices, type OnlineUser } from "../contract/presence.ts";
import { firstWithin } from "../lib/queues/first-within.ts";
import type { LastEnds, LastOfUser } from "../services/sessions/last-ends.ts";
import type { Connection } from "./connections/connection.ts";
import type { Roster } from "./connections/roster.ts";

const maxPageBytes = 64 * 1024;
const maxDevices = 50;

/**
 * Answers a presence question from this node's live connections; nothing of it is stored. Closes a connection if asked to. A page
 * ends shortly after 64 KiB of JSON whatever its limit, as messages between nodes are limited too.
 */
export function answerPresence(
  roster: Roster,
  question: PresenceQuestion,
  ratesOf: (org: string) => PresenceAnswer["rates"],
  lastEnds: Pick<LastEnds, "of">,
): PresenceAnswer {
  const { org } = question;
  const total = roster.totalOf(org);
  const version = roster.versionOf(org);
  if ("uids" in question) {
    const rates = question.uids.length === 0 ? { rates: ratesOf(org), version } : {};
    const online: OnlineUser[] = [];
    for (const [index, id] of question.uids.entries()) {
      const connections = roster.of(org, id);
      if (connections.length === 0) continue;
      const areDevicesTold = question.devices === true && index < maxUsersWithDevices;
      const devices = connections.slice(0, maxDevices).map(({ device = null }) => device);
      online.push({ id, connections: connections.length, ...(areDevicesTold && { devices }) });
    }
    const { connections: asked } = question;
    const connections = asked && { connections: tellConnections([...roster.ofAll(org, question.uids)], asked) };
    const [uid = ""] = question.uids;
    const last = asked !== undefined && asked.close === undefined && { last: tellLast(lastEnds.of({ org, uid })) };
    return { online, hasMore: false, total, ...rates, ...connections, ...last };
  }
  const online: OnlineUser[] = [];
  let bytes = 0;
  for (const user of roster.usersAfter(org, question.after)) {
    if (online.length === question.limit || bytes >= maxPageBytes) return { online, hasMore: true, total, version };
    online.push(user);
    bytes += Buffer.byteLength(JSON.stringify(user));
  }
  return { online, hasMore: false, total, version };
}

/** Tells of connections, or closes one of them and tells of that. */
function tellConnections(connections: Connection[], { close }: ConnectionsQuestion): NodeConnection[] {
  const wanted = close === undefined ? connections : connections.filter(({ id }) => id === close);
  const told = wanted.map(toNodeConnection);
  if (close !== undefined) for (const connection of wanted) connection.end("closed");
  return firstWithin(told, (connection) => Buffer.byteLength(JSON.stringify(connection)), maxPageBytes);
}

function tellLast({ ended, refused }: LastOfUser): LastTold {
  return {
    ...(ended !== undefined && {
      last_ended: { at: toIso(ended.at), code: ended.code ?? null, ...(ended.isSlow && { was_slow: true }) },
    }),
    ...(refused !== undefined && { last_refused: { at: toIso(refused.at), check: refused.check } }),
  };
}

function toNodeConnection(connection: Connection): NodeConnection {
  const { transport, address, client = null, since } = connection.arrival;
  return {
    connection_id: connection.id,
    transport,
    device_id: connection.device ?? null,
    client,
    address,
    since: toIso(since),
    waiting_bytes: connection.waitingBytes(),
  };
}
