import type { LogEvent, MembershipChange, SessionEnd } from "../contract/log-event.ts";
import type { Connection } from "./connection.ts";
import type { Roster } from "./roster.ts";
import { conversationTopic, type Topics, userTopic } from "./topics.ts";

/** Whether a forced sign-out is meant for this connection. */
export function endsSession(end: SessionEnd, connection: Pick<Connection, "uid" | "issuedAt">): boolean {
  if (connection.issuedAt > end.issuedBefore) return false;
  return end.uids === undefined || end.uids.includes(connection.uid);
}

type Dependencies = {
  topics: Topics;
  /** The connections that have joined. */
  roster: Roster;
  /** Those that are still catching up: of what is played, only a forced sign-out concerns them. */
  joining: Roster;
};

/** Plays an event to the connections that it concerns. True when some socket is slow to take it. */
export function createPlayer({ topics, roster, joining }: Dependencies): (event: LogEvent) => boolean {
  function playSystem(event: LogEvent): boolean {
    let isSlow = false;
    for (const uid of event.uids ?? []) {
      if (roster.has(event.org, uid)) isSlow = topics.publish(userTopic(event.org, uid), event) || isSlow;
    }
    return isSlow;
  }

  function playMembership({ org, cid = "", payload }: LogEvent): void {
    const { added, removed }: MembershipChange = JSON.parse(payload);
    const topic = conversationTopic(org, cid);
    for (const uid of added) for (const connection of roster.of(org, uid)) connection.subscribe(topic);
    for (const uid of removed) for (const connection of roster.of(org, uid)) connection.unsubscribe(topic);
  }

  function playSession({ org, payload }: LogEvent): void {
    const end: SessionEnd = JSON.parse(payload);
    for (const connections of [roster, joining]) {
      const concerned =
        end.uids === undefined
          ? connections.ofOrganization(org)
          : end.uids.flatMap((uid) => [...connections.of(org, uid)]);
      for (const connection of concerned) if (endsSession(end, connection)) connection.end("removed");
    }
  }

  return (event) => {
    switch (event.kind) {
      case "message":
        return topics.publish(conversationTopic(event.org, event.cid ?? ""), event);
      case "system":
        return playSystem(event);
      case "membership":
        playMembership(event);
        return false;
      case "session":
        playSession(event);
        return false;
    }
  };
}
