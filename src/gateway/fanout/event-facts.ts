import type { MembershipChange, SessionEnd } from "../../contract/log/control-events.ts";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { isObject, isTexts, parseJson } from "../../lib/json/json-values.ts";
import type { Connection } from "../connections/connection.ts";

/** Who came into a conversation and who left it. */
export type Membership = { readonly added: ReadonlySet<string>; readonly removed: ReadonlySet<string> };

/** Who sent a system message, and to whom. */
export type SystemFacts = { readonly sender: string; readonly recipients: ReadonlySet<string> };

/** What events say in their payloads, read once for all who ask while it is played, however many there are. */
export type EventFacts = {
  /** What a membership event changed; throws where its payload is no such change. */
  membershipOf(event: LogEvent): Membership;
  /** Takes the conversation of a membership event into `cids`, or out of them, if it says so of this user. */
  follow(event: LogEvent, uid: string, cids: Set<string>): void;
  /** What a system event says of its message. */
  systemOf(event: LogEvent): SystemFacts;
};

// Many join at about the same place of a log, and each is to follow the same few changes.
const mostNames = 200_000;

type Read = { membership: Membership; names: number };

/** Facts of which none is known. Keeps the changes that were read last, up to 200,000 names, and the last system message. */
export function createEventFacts(): EventFacts {
  const memberships = new Map<string, Read>(); // by the id of the event, the oldest first
  let names = 0;
  let system: { event: LogEvent; facts: SystemFacts } | undefined;

  function readMembership({ id, payload }: LogEvent): Membership {
    const change = parseJson(payload);
    if (!isMembershipChange(change)) throw new TypeError("the payload is not a membership change");
    const read = {
      membership: { added: new Set(change.added), removed: new Set(change.removed) },
      names: 1 + change.added.length + change.removed.length,
    };
    memberships.set(id, read);
    names += read.names;
    for (const [oldest, one] of memberships) {
      if (names <= mostNames || oldest === id) break;
      memberships.delete(oldest);
      names -= one.names;
    }
    return read.membership;
  }

  function membershipOf(event: LogEvent): Membership {
    return memberships.get(event.id)?.membership ?? readMembership(event);
  }

  return {
    membershipOf,
    follow(event, uid, cids) {
      // Where the name does not stand, nothing has to be parsed to know it.
      if (!memberships.has(event.id) && !event.payload.includes(JSON.stringify(uid))) return;
      const { cid = "" } = event;
      const { added, removed } = membershipOf(event);
      if (added.has(uid)) cids.add(cid);
      if (removed.has(uid)) cids.delete(cid);
    },
    systemOf(event) {
      if (system?.event !== event) {
        const { system_message: message }: { system_message: { from: string } } = JSON.parse(event.payload);
        system = { event, facts: { sender: message.from, recipients: new Set(event.uids) } };
      }
      return system.facts;
    },
  };
}

/** What a session event ends; throws where its payload is no such end. */
export function sessionEndOf({ payload }: LogEvent): SessionEnd {
  const end = parseJson(payload);
  if (!isSessionEnd(end)) throw new TypeError("the payload is no end of sessions");
  return end;
}

/** Whether a forced sign-out is meant for this connection. */
export function endsSession(end: SessionEnd, connection: Pick<Connection, "uid" | "issuedAt" | "tokenId">): boolean {
  if (end.token !== undefined) return end.token === connection.tokenId && end.uids?.includes(connection.uid) === true;
  if (connection.issuedAt > end.issuedBefore) return false;
  return end.uids === undefined || end.uids.includes(connection.uid);
}

function isMembershipChange(value: unknown): value is MembershipChange {
  return isObject(value) && isTexts(value.added) && isTexts(value.removed);
}

function isSessionEnd(value: unknown): value is SessionEnd {
  if (!isObject(value) || typeof value.issuedBefore !== "number") return false;
  const { uids, token } = value;
  return (uids === undefined || isTexts(uids)) && (token === undefined || typeof token === "string");
}
