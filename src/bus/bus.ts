import type { LogEvent } from "../contract/log/log-event.ts";
import type { OnlineUser } from "../contract/presence.ts";

/** Only the place of an event, which was too large to send. Hints without a version then give the offset alone. */
type EventPlace = Pick<LogEvent, "org" | "offset" | "prev"> & { id?: string; payload?: undefined };

/** Somebody says that something happened in an organization, and cannot prove who it is: nothing of what it says is believed. */
export type Nudge = { org: string; offset?: undefined; payload?: undefined };

/** What a subscriber hears: an event, its place, or nothing but that it should look. */
export type Hint = LogEvent | EventPlace | Nudge;

/**
 * Why a text from the bus is dropped: it bears no signature, or one that is not of this database or not for this place; it is signed
 * and cannot be read, or too long; it is a question that was asked before.
 */
export type DropReason = "unsigned" | "forged" | "unreadable" | "repeated";

/**
 * Carries events from the node that committed them to the nodes that play them. It is a hint: an event may come late,
 * twice, out of order or never, and the sequencers find the truth in the store. Besides, nodes ask one another who is
 * connected to them.
 */
export type Bus = {
  /** Hands events to every subscriber of their organization. Never fails: what is lost is found by the head check. */
  publish(events: LogEvent[]): void;
  /**
   * Resolves when what is published from now on reaches `handler`, or when the bus is away and nothing does; gives the
   * function that ends the subscription.
   */
  subscribe(org: string, handler: (hint: Hint) => void): Promise<() => void>;
  /**
   * Asks every node, this one too, and resolves with the answers by node id: as soon as all of `nodes` have answered, or
   * after a second with those that did. Rejects with `unavailable` when the bus is away.
   */
  request(question: PresenceQuestion, nodes: string[]): Promise<Map<string, PresenceAnswer>>;
  /** Says how this node answers. Until then it does not. */
  respond(answer: (question: PresenceQuestion) => PresenceAnswer): void;
  /** How many texts were dropped since the start. */
  readonly dropped: Readonly<Record<DropReason, number>>;
  /** Whether the connection to the other nodes is there; `none` where there are no others. */
  state(): BusState;
  close(): Promise<void>;
};

/**
 * A question that nodes ask each other about an organization: about the users in `uids`, or for the connected users by id after
 * `after`. With empty `uids`, it asks only for the organization's rates.
 */
export type PresenceQuestion = { org: string } & (
  | { uids: string[]; devices?: boolean | undefined }
  | { after: string; limit: number }
);

/** A node's answer about its own connections. */
export type PresenceAnswer = {
  /** The users in question who are connected, by id; no more than fit into one bus message. */
  online: OnlineUser[];
  /** Whether more users follow the last one. */
  hasMore: boolean;
  /** The number of the organization's users connected to this node, and of their connections. */
  total: { users: number; connections: number };
  /** Only with empty `uids`: requests, in units of cost, and stored sends in the last full second. Absent from earlier versions. */
  rates?: { requests: number; messages: number } | undefined;
};

/** How a bus is. While it is `down` the nodes hear of one another's events only by the head check. */
export type BusState = "up" | "down" | "none";
