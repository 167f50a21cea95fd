import type { PresenceAnswer, PresenceQuestion } from "../bus/bus.ts";
import { maxUsersWithDevices, type OnlineUser } from "../contract/presence.ts";
import type { Roster } from "./connections/roster.ts";

const maxPageBytes = 64 * 1024;
const maxDevices = 50;

/**
 * Answers a presence question from this node's live connections; nothing of it is stored. A page ends shortly after 64
 * KiB of JSON whatever its limit, as messages between nodes are limited too.
 */
export function answerPresence(
  roster: Roster,
  question: PresenceQuestion,
  ratesOf: (org: string) => PresenceAnswer["rates"],
): PresenceAnswer {
  const { org } = question;
  const total = roster.totalOf(org);
  if ("uids" in question) {
    const rates = question.uids.length === 0 ? { rates: ratesOf(org) } : {};
    const online: OnlineUser[] = [];
    for (const [index, id] of question.uids.entries()) {
      const connections = roster.of(org, id);
      if (connections.length === 0) continue;
      const areDevicesTold = question.devices === true && index < maxUsersWithDevices;
      const devices = connections.slice(0, maxDevices).map(({ device = null }) => device);
      online.push({ id, connections: connections.length, ...(areDevicesTold && { devices }) });
    }
    return { online, hasMore: false, total, ...rates };
  }
  const online: OnlineUser[] = [];
  let bytes = 0;
  for (const user of roster.usersAfter(org, question.after)) {
    if (online.length === question.limit || bytes >= maxPageBytes) return { online, hasMore: true, total };
    online.push(user);
    bytes += Buffer.byteLength(JSON.stringify(user));
  }
  return { online, hasMore: false, total };
}
