import type { LogEvent } from "../../contract/log/log-event.ts";
import type { Roster } from "../connections/roster.ts";
import type { DeliveryLedger } from "../delivery/delivery-ledger.ts";
import type { Backlog } from "../limits/backlog.ts";
import type { Audiences } from "./audiences.ts";
import { type EventFacts, endsSession, sessionEndOf } from "./event-facts.ts";
import { conversationTopic, type Topics, userTopic } from "./topics.ts";

type Dependencies = {
  topics: Topics;
  /** The connections that have joined. */
  roster: Roster;
  /** Those that are still catching up: of what is played, only a forced sign-out concerns them. */
  joining: Roster;
  audiences: Audiences;
  backlog: Pick<Backlog, "suspect">;
  facts: Pick<EventFacts, "membershipOf">;
  ledger: Pick<DeliveryLedger, "played" | "playedTo">;
  /** Called for an event of a kind that this version does not know: it is played to nobody. */
  onUnknown(event: LogEvent): void;
};

/** Plays an event to the connections that it concerns. True when some socket is slow to take it. */
export function createPlayer({
  topics,
  roster,
  joining,
  audiences,
  backlog,
  facts,
  ledger,
  onUnknown,
}: Dependencies): (event: LogEvent) => boolean {
  /** Publishes to a topic that these users follow. True when some connection is slow to take it. */
  function publish(topic: string, event: LogEvent, uids: () => Iterable<string>): boolean {
    const isSlow = topics.publish(topic, event);
    if (isSlow) backlog.suspect(topic, event.payload.length, () => roster.ofAll(event.org, uids()));
    return isSlow;
  }

  function playSystem(event: LogEvent): boolean {
    const { org } = event;
    const heard: string[] = [];
    let connections = 0;
    let isSlow = false;
    for (const uid of event.uids ?? []) {
      if (roster.countOf(org, uid) === 0) continue;
      isSlow = publish(userTopic(org, uid), event, () => [uid]) || isSlow;
      const count = roster.countOf(org, uid); // now: who was too slow for it has been cut
      if (count > 0) heard.push(uid);
      connections += count;
    }
    ledger.playedTo(event, heard, connections);
    return isSlow;
  }

  function playMessage(event: LogEvent): boolean {
    const topic = conversationTopic(event.org, event.cid ?? "");
    const isSlow = publish(topic, event, () => audiences.of(topic)?.uids() ?? []);
    const audience = audiences.of(topic);
    if (audience !== undefined) ledger.played(event, audience);
    return isSlow;
  }

  function playMembership(event: LogEvent): void {
    const { org, cid = "" } = event;
    const { added, removed } = facts.membershipOf(event);
    for (const uid of added) for (const connection of roster.of(org, uid)) audiences.join(connection, cid);
    for (const uid of removed) for (const connection of roster.of(org, uid)) audiences.leave(connection, cid);
  }

  function playSession(event: LogEvent): void {
    const { org } = event;
    const end = sessionEndOf(event);
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
        return playMessage(event);
      case "system":
        return playSystem(event);
      case "membership":
        playMembership(event);
        return false;
      case "session":
        playSession(event);
        return false;
      case "unknown":
        onUnknown(event);
        return false;
      case "unplayable":
        return false;
    }
  };
}
