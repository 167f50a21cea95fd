import { addressOf, type EventKind, hasExpired, type LogEvent } from "../../contract/log/log-event.ts";
import type { Guard } from "../../lib/observing/guard.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Roster } from "../connections/roster.ts";
import type { DeliveryLedger } from "../delivery/delivery-ledger.ts";
import type { Backlog } from "../limits/backlog.ts";
import type { StreamFrames } from "../streams/stream-frames.ts";
import type { Audiences } from "./audiences.ts";
import { type EventFacts, endsSession, sessionEndOf } from "./event-facts.ts";
import { type Played, together, toNobody } from "./played.ts";
import type { SocketTopics } from "./socket-topics.ts";
import { conversationTopic, organizationTopic, type Topics, userTopic } from "./topics.ts";

/** Plays an event immediately. */
export type Play = (event: LogEvent) => Played;

type Dependencies = {
  topics: Topics;
  socketTopics: Pick<SocketTopics, "publish" | "settle">;
  /** The connections that have joined. */
  roster: Roster;
  /** Connections that are still joining: of the events played, only forced sign-outs concern them. */
  joining: Roster;
  audiences: Audiences;
  backlog: Pick<Backlog, "suspect" | "withdraw">;
  facts: Pick<EventFacts, "membershipOf" | "recalledBy">;
  frames: Pick<StreamFrames, "forget">;
  ledger: Pick<DeliveryLedger, "played" | "playedTo">;
  /** Called for an event of a kind that this version does not know; it is played to nobody. */
  onUnknown(event: LogEvent): void;
};

/** Kinds of events that change who receives what: everything played before them must be written first. */
const changesHearing = new Set<EventKind>(["membership", "session", "recall", "system_recall"]);

/** Creates the player for users, which plays an event to the connections concerned. */
export function createPlayer({
  topics,
  socketTopics,
  roster,
  joining,
  audiences,
  backlog,
  facts,
  frames,
  ledger,
  onUnknown,
}: Dependencies): Play {
  /** Publishes to a topic of these users, and has their backlogs checked if a connection is slow to take it. */
  function publish(topic: string, event: LogEvent, uids: () => Iterable<string>): Played {
    const onSlow = () => backlog.suspect(topic, event.payload.length, () => roster.ofAll(event.org, uids()));
    return together(socketTopics.publish(topic, event, onSlow), topics.publish(topic, event, onSlow));
  }

  /** Publishes to the recipients who are connected here, and returns who they were. */
  function playToRecipients(event: LogEvent): { played: Played; heard: string[]; heardOn: number } {
    const { org } = event;
    const heard: string[] = [];
    let heardOn = 0;
    let connections = 0;
    let isSlow = false;
    for (const uid of event.uids ?? []) {
      if (roster.countOf(org, uid) === 0) continue;
      const played = publish(userTopic(org, uid), event, () => [uid]);
      connections += played.connections;
      isSlow = played.isSlow || isSlow;
      const count = roster.countOf(org, uid); // counted after publishing, which may cut slow connections
      if (count > 0) heard.push(uid);
      heardOn += count;
    }
    return { played: { connections, isSlow }, heard, heardOn };
  }

  function playSystem(event: LogEvent): Played {
    return addressOf(event) === "users" ? playToUsers(event) : playToAudience(event, topicOfSystem(event));
  }

  function playToUsers(event: LogEvent): Played {
    const { played, heard, heardOn } = playToRecipients(event);
    ledger.playedTo(event, heard, heardOn, audiences.awayAmong(event.org, heard));
    return played;
  }

  function playToConversation(event: LogEvent): Played {
    return playToAudience(event, conversationTopic(event.org, event.cid ?? ""));
  }

  function publishToAudience(topic: string, event: LogEvent): Played {
    return publish(topic, event, () => audiences.of(topic)?.uids() ?? []);
  }

  function playToAudience(event: LogEvent, topic: string): Played {
    const played = publishToAudience(topic, event);
    const audience = audiences.of(topic);
    if (audience !== undefined) ledger.played(event, audience);
    return played;
  }

  /** Deliveries of edits, recalls and reactions are not recorded: reports count those of the message. */
  function playEdit(event: LogEvent): Played {
    return publishToAudience(conversationTopic(event.org, event.cid ?? ""), event);
  }

  /** A message is delivered to whoever gets its last piece. */
  function playPiece(event: LogEvent): Played {
    const topic = conversationTopic(event.org, event.cid ?? "");
    const played = publishToAudience(topic, event);
    const audience = audiences.of(topic);
    if (event.completes !== undefined && audience !== undefined)
      ledger.playedTo({ ...event, offset: event.completes }, [...audience.uids()], audience.connections);
    return played;
  }

  function playRecall(event: LogEvent): Played {
    withdraw(event);
    return playEdit(event);
  }

  function playSystemRecall(event: LogEvent): Played {
    withdraw(event);
    if (addressOf(event) === "users") return playToRecipients(event).played;
    return publishToAudience(topicOfSystem(event), event);
  }

  /** Withdraws the texts from all who have not received them yet. */
  function withdraw(event: LogEvent): void {
    backlog.withdraw(event.org, facts.recalledBy(event));
    frames.forget();
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
    if (changesHearing.has(event.kind)) socketTopics.settle(event.org);
    switch (event.kind) {
      case "message":
        return event.isOpen ? playEdit(event) : playToConversation(event);
      case "system":
        return playSystem(event);
      case "read":
      case "system_read":
      case "hide":
        return playToRecipients(event).played;
      case "membership":
        playMembership(event);
        return toNobody;
      case "session":
        playSession(event);
        return toNobody;
      case "edit":
      case "reaction":
        return playEdit(event);
      case "append":
        return playPiece(event);
      case "recall":
        return playRecall(event);
      case "system_recall":
        return playSystemRecall(event);
      case "unknown":
        onUnknown(event);
        return toNobody;
      case "blank":
      case "unplayable":
        return toNobody;
    }
  };
}

/** Wraps the play of an event; `play` returns how many connections received it. */
export type TracePlay = (event: LogEvent, play: () => number) => void;

type Playback = {
  /** Plays an event to users. */
  play: Play;
  topics: Pick<Topics, "publishToFeeds">;
  backlog: Pick<Backlog, "check">;
  tracePlay?: TracePlay | undefined;
  databaseClock: Clock;
  guard: Guard;
};

/**
 * Plays each event to users and then to feeds, within a trace if there is one. Feeds get it even if playing to users
 * fails. An event that has expired goes to nobody.
 */
export function createPlayback({ play, topics, backlog, tracePlay, databaseClock, guard }: Playback): Play {
  function playToAll(event: LogEvent): Played {
    let toUsers = toNobody;
    guard(() => {
      toUsers = play(event);
    });
    return together(toUsers, topics.publishToFeeds(event));
  }

  /** Plays the event inside the trace, or without it if the trace fails first; exactly once in either case. */
  function playTraced(event: LogEvent, trace: TracePlay): Played {
    let played: Played | undefined;
    const playOnce = () => {
      if (played !== undefined) return 0;
      played = toNobody; // before anything that may throw, so that nothing is played twice
      played = playToAll(event);
      return played.connections;
    };
    guard(() => trace(event, playOnce));
    playOnce();
    return played ?? toNobody;
  }

  return (event) => {
    if (event.expiresAt !== undefined && hasExpired(event, databaseClock.now())) return toNobody;
    const played = tracePlay === undefined ? playToAll(event) : playTraced(event, tracePlay);
    if (played.isSlow) backlog.check();
    return played;
  };
}

/** The topic of those whom a system message, or its recall, is addressed to without naming them. */
function topicOfSystem(event: LogEvent): string {
  const { org, cid = "" } = event;
  return addressOf(event) === "everyone" ? organizationTopic(org) : conversationTopic(org, cid);
}
