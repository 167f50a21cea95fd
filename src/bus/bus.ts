import type { TypingStatus } from "../contract/connections/typing.ts";
import type { LogEvent } from "../contract/log/log-event.ts";
import type { OnlineUser, UserConnection, UserConnectionList } from "../contract/presence.ts";

/** The place of an event that was too large to send. In hints without a version, only the offset is set. */
type EventPlace = Pick<LogEvent, "org" | "offset" | "prev"> & { id?: string; payload?: undefined };

/** An unauthenticated claim that something happened in an organization; nothing else in it is trusted. */
export type Nudge = { org: string; offset?: undefined; payload?: undefined };

/** What a subscriber receives: an event, its place, or only a reason to look. */
export type Hint = LogEvent | EventPlace | Nudge;

/**
 * Why a text from the bus was dropped: it has no signature; its signature is not of this database or not for this
 * place; it is signed but too long or unreadable; it repeats an earlier question.
 */
export type DropReason = "unsigned" | "forged" | "unreadable" | "repeated";

/**
 * Carries events from the node that committed them to the nodes that play them. These are hints: an event may arrive
 * late, twice, out of order or never, and sequencers take the truth from the store. Nodes also ask one another who is
 * connected.
 */
export type Bus = {
  /** Hands events to every subscriber of their organization. Never fails: head checks find what is lost. */
  publish(events: LogEvent[]): void;
  /**
   * Resolves once later events reach `handler`, or if the bus is away. Returns the function that ends the subscription.
   */
  subscribe(org: string, handler: (hint: Hint) => void): Promise<() => void>;
  /**
   * Asks every node, including this one, and resolves with the answers by node id: once all of `nodes` have answered,
   * or after a second with those that have. Rejects with `unavailable` if the bus is away.
   */
  request(question: PresenceQuestion, nodes: string[]): Promise<Map<string, PresenceAnswer>>;
  /** Sets how this node answers. Until then it does not. */
  respond(answer: (question: PresenceQuestion) => PresenceAnswer): void;
  /** The number of texts dropped since the start, by reason. */
  readonly dropped: Readonly<Record<DropReason, number>>;
  /** Whether this node is connected to the others; `none` if there are none. */
  state(): BusState;
  close(): Promise<void>;
};

/**
 * A question that nodes ask each other about an organization: about the users in `uids`, or for the connected users by id after
 * `after`. With empty `uids`, it asks only for the organization's rates.
 */
export type PresenceQuestion = { org: string } & (
  | { uids: string[]; devices?: boolean | undefined; connections?: ConnectionsQuestion | undefined }
  | { after: string; limit: number }
);

/** About the connections of the users: lists them, or closes the one with the id `close`. */
export type ConnectionsQuestion = { close?: string | undefined };

/** A connection of a user, as its node tells of it. */
export type NodeConnection = Omit<UserConnection, "node">;

/** A node's answer about its own connections. */
export type PresenceAnswer = {
  /** The users in question who are connected, by id; no more than fit into one bus message. */
  online: OnlineUser[];
  /** Whether more users follow the last one. */
  hasMore: boolean;
  /** The number of the organization's users connected to this node, and of their connections. */
  total: { users: number; connections: number };
  /** Differs once the users who are connected to this node have changed, also from that of a node before it. Absent from earlier versions. */
  version?: string | undefined;
  /** Only with empty `uids`: requests, in units of cost, and stored sends in the last full second. Absent from earlier versions. */
  rates?: { requests: number; messages: number } | undefined;
  /**
   * Only if the question has `connections`: those that are listed, no more than fit into one bus message, or that were closed. Absent
   * from earlier versions.
   */
  connections?: NodeConnection[] | undefined;
  /** Only if the question has `connections` and lists them: what the node remembers of the first user. Absent from earlier versions. */
  last?: LastTold | undefined;
};

/** What a node remembers of a user. */
export type LastTold = {
  [what in "last_ended" | "last_refused"]?: NonNullable<UserConnectionList[what]> | undefined;
};

/** A question about an event that is about to be appended, whose delivery a caller waits for. */
export type WatchQuestion = {
  org: string;
  /** The id of the event. */
  event: string;
  /** The id that clients acknowledge it by. */
  ack: string;
  /** How long to watch, in milliseconds. */
  forMs: number;
};

/** What a node tells of an event since it last told; all of it together is the truth about its own connections. */
export type DeliveryNews = {
  /** Users who were connected when the event was played, each once. */
  online: readonly string[];
  /** Those of them whose connections were all cut in the attempt to write it. */
  missed: readonly string[];
  /** Those of them who have acknowledged it, each once. */
  acknowledged: readonly string[];
  /** Whether the event was played, so that nobody else comes to be online or missed. */
  isPlayed: boolean;
  /**
   * Whether nothing need be awaited: the node has no connections of the organization, or it has played the event and
   * each connection that acknowledges has acknowledged or is gone. Acknowledgements may follow.
   */
  isDone: boolean;
};

/** Watches events on one node. `id` is the question's. */
export type Watcher = {
  /** Begins to watch, and tells how things stand. Tells nothing if there are too many watches. */
  begin(id: string, question: WatchQuestion, tell: (news: DeliveryNews) => void): void;
  /** The asking node needs no more news. */
  end(id: string): void;
};

/** Lets a node watch what becomes of an event on all nodes. News may be lost, but is never told twice. */
export type WatchBus = {
  /**
   * Asks all nodes, including this one, to watch an event before it is appended; `hear` gets the news of each. A node
   * that the bus does not reach tells nothing. Never fails. Returns the function that ends the watch.
   */
  watch(question: WatchQuestion, hear: (node: string, news: DeliveryNews) => void): () => void;
  /** Sets how this node watches. Until then it does not. */
  watchWith(watcher: Watcher): void;
};

/** A user of an organization. */
export type UserPlace = { org: string; uid: string };

/** Tells nodes that users come and go. */
export type ActivityBus = {
  /**
   * Tells all nodes that follow this user, including this one, that the user's connections to this node have begun or
   * ended. It may be lost. Never fails.
   */
  tellActivity(user: UserPlace): void;
  /** Calls `hear` when a node tells about the user. Returns the function that ends it. */
  followActivity(user: UserPlace, hear: () => void): () => void;
};

/**
 * That a user is typing in a conversation, or has stopped; `t` is in seconds since the Unix epoch. A message of the user after the offset
 * `after` of the log ends it. Absent from earlier versions.
 */
export type TypingNote = {
  org: string;
  cid: string;
  from: string;
  status: TypingStatus;
  t: number;
  after?: number | undefined;
};

/** Passes on that users are typing. Nothing of it is stored, and notes may be lost. */
export type TypingBus = {
  /** Tells all nodes that follow the organization, including this one. Never fails. */
  tellTyping(note: TypingNote): void;
  /** Calls `hear` with each note of the organization. Returns the function that ends it. */
  followTyping(org: string, hear: (note: TypingNote) => void): () => void;
};

/** The bus of a node, with all that nodes tell one another on it. */
export type NodesBus = Bus & WatchBus & ActivityBus & TypingBus;

/** The state of a bus. While it is `down`, nodes learn of one another's events only by head checks. */
export type BusState = "up" | "down" | "none";
