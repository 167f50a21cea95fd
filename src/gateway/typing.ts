import type { NodesBus, TypingNote } from "../bus/bus.ts";
import { typingHoldsMs } from "../contract/connections/typing.ts";
import { errorAbout } from "../contract/errors/naming.ts";
import type { LogEvent } from "../contract/log/log-event.ts";
import type { ThreadScheduler } from "../lib/event-loop/thread-scheduler.ts";
import { isObject, objectWith } from "../lib/json/json-values.ts";
import { joinIds } from "../lib/text/ids.ts";
import type { Clock } from "../lib/time/clock.ts";
import { threadCosts } from "../services/limits/costs.ts";
import { type Connection, comfortableBytes } from "./connections/connection.ts";
import type { Roster } from "./connections/roster.ts";
import type { Audience } from "./delivery/audience.ts";
import { conversationTopic } from "./fanout/topics.ts";
import type { Sequencer } from "./log/sequencer.ts";

type Hearers = Pick<Audience, "connections" | "uids" | "has">;
type Hearer = Pick<Connection, "isOpen" | "waitingBytes" | "write">;

/** What is needed to pass on who is typing. */
export type TypingParts = {
  bus: Pick<NodesBus, "tellTyping" | "followTyping">;
  audiences: { of(topic: string): Hearers | undefined };
  roster: Pick<Roster, "totalOf"> & { ofAll(org: string, uids: Iterable<string>): Iterable<Hearer> };
  /** What this node has played of the log of an organization. */
  sequencerOf(org: string): Pick<Sequencer, "position" | "playedAfter"> | undefined;
  thread: ThreadScheduler;
  clock: Clock;
  onError(error: unknown): void;
};

// Any user can make the others of a conversation hear something, so both are bounded.
const mostHearers = 250;
const mostWaiting = 1_000;

/**
 * Creates what passes on, to the WebSockets of one node, who is typing in a conversation. A status may be lost: a connection that is
 * behind does not get it, nor does a node that is too busy, or has more than 250 connections of the conversation.
 */
export function createTyping({ bus, audiences, roster, sequencerOf, thread, clock, onError }: TypingParts) {
  const followed = new Map<string, () => void>();
  const waiting = new Map<string, TypingNote>(); // the newest of each user in each conversation

  /** The connections of the conversation on this node, unless they are too many. */
  function hearersOf(org: string, cid: string): Hearers | undefined {
    const audience = audiences.of(conversationTopic(org, cid));
    return audience !== undefined && audience.connections <= mostHearers ? audience : undefined;
  }

  /** Whether a message of the user has been played that ends it, or it is too old to tell. */
  function isOver({ org, cid, from, after }: TypingNote): boolean {
    if (after === undefined) return false;
    const played = sequencerOf(org)?.playedAfter(after);
    return played?.some((event) => event.kind === "message" && event.cid === cid && isFrom(event, from)) !== false;
  }

  function write(told: TypingNote): void {
    if (isOver(told)) return;
    const { org, after: _, ...note } = told;
    const uids = [...(hearersOf(org, note.cid)?.uids() ?? [])].filter((uid) => uid !== note.from);
    const frame = JSON.stringify({ typing: note });
    for (const connection of [...roster.ofAll(org, uids)])
      if (connection.isOpen && connection.waitingBytes() <= comfortableBytes) connection.write?.([frame]);
  }

  async function hear(note: TypingNote): Promise<void> {
    const { org, cid, from, t } = note;
    if (Math.abs(clock.now() - t * 1000) > typingHoldsMs) return;
    const hearers = hearersOf(org, cid);
    if (hearers === undefined) return;
    const key = joinIds(org, cid, from);
    const isWaiting = waiting.has(key);
    if (!isWaiting && waiting.size >= mostWaiting) return;
    waiting.set(key, note);
    if (isWaiting) return;
    await thread.turn(org, threadCosts.deliveries(hearers.connections, hearers.connections));
    const newest = waiting.get(key);
    waiting.delete(key);
    if (newest !== undefined) write(newest);
  }

  return {
    /**
     * Tells the other participants of the conversation who are connected, on all nodes. Returns the number of its connections on this
     * node. Throws `not_a_participant` unless the user's connections hear the conversation.
     */
    pass({ org, uid }: { org: string; uid: string }, { cid, status }: Pick<TypingNote, "cid" | "status">): number {
      const audience = audiences.of(conversationTopic(org, cid));
      if (audience?.has(uid) !== true) throw errorAbout("not_a_participant", { user: uid, conversation: cid });
      const t = Math.floor(clock.now() / 1000);
      bus.tellTyping({ org, cid, from: uid, status, t, after: sequencerOf(org)?.position });
      return hearersOf(org, cid)?.connections ?? 0;
    },
    /** Called when a user of the organization has come to this node, or left it: follows while there is any. */
    follow(org: string): void {
      const isFollowed = followed.has(org);
      const hasUsers = roster.totalOf(org).users > 0;
      if (hasUsers && !isFollowed)
        followed.set(
          org,
          bus.followTyping(org, (note) => void hear(note).catch(onError)),
        );
      if (hasUsers || !isFollowed) return;
      followed.get(org)?.();
      followed.delete(org);
    },
    /** The number of organizations that it follows, and of what waits to be written. */
    get size(): number {
      return followed.size + waiting.size;
    },
  };
}

/** Whether a message is from a user; parsed only if its text contains the name. */
function isFrom({ payload }: Pick<LogEvent, "payload">, uid: string): boolean {
  if (!payload.includes(JSON.stringify(uid))) return false;
  const message = objectWith(payload, "message")?.message;
  return isObject(message) && message.from === uid;
}

/** Passes on who is typing. */
export type Typing = ReturnType<typeof createTyping>;
