import type { MembershipChange, SessionEnd } from "../../../src/contract/log/control-events.ts";
import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import { type LogPlace, logStart } from "../../../src/contract/log/log-place.ts";
import { createQueue, type Queue } from "../../../src/lib/queues/queue.ts";
import type { UnreadMessage } from "../../../src/store/reads/ports.ts";
import { placeKey } from "../../../src/store/reads/read-plan.ts";

const pageBytes = 4 * 1024 * 1024;
/** What a transaction does to an organization. */
export type Change =
  | { kind: "message"; cid: string; sender: string; bytes: number }
  | { kind: "system"; uids: string[]; cid?: string | undefined }
  | { kind: "read"; uids: string[]; payload: string }
  | { kind: "edit"; cid: string; id: string }
  | { kind: "recall"; cid: string; ids: string[] }
  | { kind: "membership"; cid: string; change: MembershipChange }
  | { kind: "session"; end: SessionEnd };

/** A read mark that moves to an offset: whose, and in which conversation. */
export type Move = { cid: string; uid: string; read_to: number };

/**
 * A logged event, when it was committed (milliseconds), its membership change, if it is one, and the read marks that
 * moved in its commit.
 */
export type Commit = { event: LogEvent; at: number; change: MembershipChange | undefined; moves: readonly Move[] };

/** The text of a message: where its row is, what it says since its last edit, and where that is told. */
type Text = { offset: number; cid: string; payload: string | undefined; edit: number | undefined; isRecalled: boolean };

/** A log up to the failover that lost its end. Its events up to `keptUpTo` are also in the log that continued. */
export type LostLife = {
  readonly commits: readonly (Commit | undefined)[];
  readonly validAfter: ReadonlyMap<string, number>;
  readonly blankedAt: ReadonlyMap<number, number>;
  readonly keptUpTo: number;
  readonly endedAt: number;
};

/** One organization in the database: its log, and what follows from it. */
export type Organization = {
  readonly id: string;
  head: number;
  /** The last offset assigned, even to a transaction that has not committed. */
  givenOut: number;
  purgedUpTo: number;
  /** By offset. Purged ones are visible only to the judge. */
  readonly commits: (Commit | undefined)[];
  readonly lost: LostLife[];
  readonly participants: Map<string, Set<string>>;
  /** Up to which offset each participant has read, by `markKey`. */
  readonly marks: Map<string, number>;
  /** The texts of messages, by id. */
  readonly texts: Map<string, Text>;
  /** When events lost their texts, by offset. */
  readonly blankedAt: Map<number, number>;
  /** Tokens of a user issued up to this time are refused. */
  readonly validAfter: Map<string, number>;
  readonly lock: Queue;
};

/** The log and the directory in memory, as PostgreSQL would keep them. Every method is instantaneous. */
export type Database = ReturnType<typeof createDatabase>;

const idInFrame = /^\{"(?:(?:system_)?message":\{"_id|message_(?:edit|delete)":\{"event)":"([^"]+)"/;
const longestStart = 64;

/** The key of a participant's mark. */
export const markKey = (org: string, { cid, uid }: Pick<Move, "cid" | "uid">) => placeKey({ org, cid, uid });

/** With `keepsTexts`, a bug to be found: a recall is told, and its messages stay. */
export function createDatabase(now: () => number, { keepsTexts = false }: { keepsTexts?: boolean } = {}) {
  const organizations = new Map<string, Organization>();
  const eventById = new Map<string, LogEvent>();
  const readByFrame = new Map<string, LogEvent>();
  const senders = new Map<string, string>();
  const editedTexts = new Map<string, Set<string>>(); // by the id of the message
  const fillings = new Map<number, string>(); // large texts are expensive to create
  let ids = 0;
  let failovers = 0;

  function get(org: string): Organization {
    const found = organizations.get(org);
    if (found === undefined) throw new Error(`there is no organization ${org}`);
    return found;
  }

  function create(org: string): Organization {
    const created: Organization = {
      id: org,
      head: 0,
      givenOut: 0,
      purgedUpTo: 0,
      commits: [],
      lost: [],
      participants: new Map(),
      marks: new Map(),
      texts: new Map(),
      blankedAt: new Map(),
      validAfter: new Map(),
      lock: createQueue(() => new Error("a lock is never closed")),
    };
    organizations.set(org, created);
    return created;
  }

  function fillingOf(bytes: number): string {
    const filling = fillings.get(bytes) ?? "x".repeat(bytes);
    fillings.set(bytes, filling);
    return filling;
  }

  /** The event of a change at an offset; nothing is stored yet. */
  function prepare(org: string, offset: number, change: Change): LogEvent {
    const id = `${org}-${++ids}`;
    const event: LogEvent = {
      org,
      offset,
      kind: change.kind,
      id,
      cid: "cid" in change ? change.cid : undefined,
      payload: payloadOf(id, change, fillingOf),
      uids: "uids" in change ? change.uids : undefined,
    };
    eventById.set(id, event);
    if (change.kind === "message") senders.set(id, change.sender);
    if (change.kind === "read") readByFrame.set(event.payload, event);
    return event;
  }

  /** Applies the effects of an event on texts. */
  function followText({ texts, blankedAt }: Organization, { event, at }: Commit): void {
    const { kind, id, offset, cid = "" } = event;
    if (kind === "message") texts.set(id, { offset, cid, payload: undefined, edit: undefined, isRecalled: false });
    for (const about of aboutOf(event)) {
      const text = texts.get(about);
      if (text === undefined || keepsTexts) continue;
      if (text.edit !== undefined) blankedAt.set(text.edit, at);
      if (kind === "recall") {
        blankedAt.set(text.offset, at);
        text.isRecalled = true;
      } else {
        text.edit = offset;
        text.payload = `{"message":{"_id":"${about}","body":"edited by ${id}"}}`;
        editedTexts.set(about, (editedTexts.get(about) ?? new Set()).add(text.payload));
      }
    }
  }

  /** Applies the effects of an event. */
  function follow(organization: Organization, committed: Commit): void {
    const { id, participants, marks, validAfter } = organization;
    const { event, change, moves } = committed;
    followText(organization, committed);
    const { cid = "" } = event;
    const members = participants.get(cid) ?? new Set();
    if (change !== undefined) participants.set(cid, members);
    for (const uid of change?.added ?? []) {
      members.add(uid);
      marks.set(markKey(id, { cid, uid }), event.offset);
    }
    for (const uid of change?.removed ?? []) {
      members.delete(uid);
      marks.delete(markKey(id, { cid, uid }));
    }
    for (const move of moves) marks.set(markKey(id, move), move.read_to);
    if (event.kind === "session") {
      const end: SessionEnd = JSON.parse(event.payload);
      for (const uid of end.uids ?? []) validAfter.set(uid, end.issuedBefore);
    }
  }

  /** Stores events at their offsets, with their effects, and sets their predecessors. Marks move with the last one. */
  function commit(org: string, events: LogEvent[], moves: readonly Move[] = []): void {
    const organization = get(org);
    const { commits } = organization;
    for (const event of events) {
      const change: MembershipChange | undefined = event.kind === "membership" ? JSON.parse(event.payload) : undefined;
      event.prev = event.offset === 1 ? logStart.id : commits[event.offset - 1]?.event.id;
      const committed = { event, at: now(), change, moves: event === events.at(-1) ? moves : [] };
      commits[event.offset] = committed;
      organization.head = Math.max(organization.head, event.offset);
      follow(organization, committed);
    }
  }

  /** A standby takes over without anything committed after a time. */
  function failOver(upToMs: number): void {
    failovers++;
    for (const organization of organizations.values()) {
      const { commits, head, participants, marks, validAfter, lost } = organization;
      const kept = commits.findLastIndex((one) => one !== undefined && one.at <= upToMs);
      if (kept === head) continue;
      lost.push({
        commits: [...commits],
        validAfter: new Map(validAfter),
        blankedAt: new Map(organization.blankedAt),
        keptUpTo: kept,
        endedAt: now(),
      });
      organization.texts.clear();
      organization.blankedAt.clear();
      commits.length = kept + 1;
      organization.head = kept;
      organization.givenOut = kept;
      organization.purgedUpTo = Math.min(organization.purgedUpTo, kept);
      participants.clear();
      marks.clear();
      validAfter.clear();
      for (const one of commits) if (one !== undefined) follow(organization, one);
    }
  }

  function headOf({ head, commits }: Organization): LogPlace {
    return head === 0 ? logStart : { offset: head, id: commits[head]?.event.id };
  }

  function stored(org: string, after: number, upTo: number, isWanted: (event: LogEvent) => boolean): LogEvent[] {
    const { commits, purgedUpTo } = get(org);
    const found: LogEvent[] = [];
    for (let offset = Math.max(after, purgedUpTo) + 1; offset <= upTo; offset++) {
      const event = commits[offset]?.event;
      if (event !== undefined && isWanted(event)) found.push(shown(get(org), event));
    }
    return found;
  }

  /** An event as its row is now: edited, or without its text. */
  function shown({ texts, blankedAt }: Organization, event: LogEvent): LogEvent {
    if (blankedAt.has(event.offset)) return { ...event, kind: "blank", payload: "" };
    const payload = texts.get(event.id)?.payload;
    return payload === undefined ? event : { ...event, payload };
  }

  const isMissedBy = (org: string, uid: string) => (event: LogEvent) =>
    (event.kind === "message" || event.kind === "edit" || event.kind === "recall") &&
    !get(org).blankedAt.has(event.offset) &&
    get(org)
      .participants.get(event.cid ?? "")
      ?.has(uid) === true;

  /** What the product's ports read, answered at once. */
  const reads = {
    heads: (orgs: string[]) => new Map(orgs.map((org) => [org, headOf(get(org))])),
    readFrom(org: string, offset: number, limit: number) {
      const { purgedUpTo, commits } = get(org);
      const anchor = offset > purgedUpTo ? commits[offset]?.event.id : undefined;
      return { head: headOf(get(org)), anchor, events: reads.readAfter(org, offset, limit, pageBytes) };
    },
    readAfter: (org: string, offset: number, limit: number, maxBytes: number) =>
      within(maxBytes, stored(org, offset, get(org).head, () => true).slice(0, limit)),
    snapshot(org: string, uid: string) {
      const { participants, validAfter } = get(org);
      const { offset: head, id: headId } = headOf(get(org));
      const cids = [...participants].filter(([, members]) => members.has(uid)).map(([cid]) => cid);
      return {
        head,
        headId,
        cids,
        tokensValidAfter: validAfter.get(uid) ?? 0,
        isUser: true,
        isBlocked: false,
        hasInboxes: false,
        isRevoked: false,
      };
    },
    findMessage(org: string, id: string) {
      const [event] = stored(org, 0, get(org).head, (one) => one.kind === "message" && one.id === id);
      return event && { offset: event.offset, createdAt: get(org).commits[event.offset]?.at ?? 0 };
    },
    countMissed: (org: string, uid: string, after: number, upTo: number, limit: number) =>
      Math.min(limit, stored(org, after, upTo, isMissedBy(org, uid)).length),
    readMissed: (org: string, uid: string, after: number, upTo: number, limit: number, maxBytes: number) =>
      within(maxBytes, stored(org, after, upTo, isMissedBy(org, uid)).slice(0, limit)),
  };

  return {
    create,
    get,
    prepare,
    commit,
    failOver,
    /** The number of failovers, each of which aborts running transactions. */
    failovers: () => failovers,
    reads,
    /** Removes what was committed up to a time. */
    purge(org: string, upToMs: number): void {
      const organization = get(org);
      const { commits, head } = organization;
      while (organization.purgedUpTo < head && (commits[organization.purgedUpTo + 1]?.at ?? 0) <= upToMs)
        organization.purgedUpTo++;
    },
    /** What a participant has not read of a conversation, up to an offset; `undefined` for others. */
    unreadOf(org: string, { cid, uid }: Pick<Move, "cid" | "uid">, upTo: number): UnreadMessage[] | undefined {
      const mark = get(org).marks.get(markKey(org, { cid, uid }));
      if (mark === undefined) return undefined;
      const isUnread = ({ kind, cid: of, id }: LogEvent) => kind === "message" && of === cid && senders.get(id) !== uid;
      return stored(org, mark, upTo, isUnread).map(({ offset, id }) => ({ offset, id, sender: senders.get(id) ?? "" }));
    },
    /** The event whose payload is exactly this frame, or was after an edit. */
    eventOf(frame: string): LogEvent | undefined {
      const read = readByFrame.get(frame);
      if (read !== undefined) return read;
      const event = eventById.get(idInFrame.exec(frame.slice(0, longestStart))?.[1] ?? "");
      return event?.payload === frame || editedTexts.get(event?.id ?? "")?.has(frame) === true ? event : undefined;
    },
    /** The ids of the newest messages of a conversation that were not taken back. */
    newestOf(org: string, cid: string, count: number): string[] {
      const { texts, purgedUpTo } = get(org);
      const there = [...texts].filter(([, text]) => text.cid === cid && !text.isRecalled && text.offset > purgedUpTo);
      return there.slice(-count).map(([id]) => id);
    },
  };
}

/** The ids of the messages that an edit or a recall is about. */
export function aboutOf({ kind, payload }: LogEvent): string[] {
  if (kind === "edit") return [JSON.parse(payload).message_edit.id];
  return kind === "recall" ? JSON.parse(payload).message_delete.ids : [];
}

/** The first events, ending with the one that reaches `maxBytes`. */
function within(maxBytes: number, events: LogEvent[]): LogEvent[] {
  let bytes = 0;
  return events.filter(({ payload }) => {
    const fits = bytes < maxBytes;
    bytes += Buffer.byteLength(payload);
    return fits;
  });
}

function payloadOf(id: string, change: Change, fillingOf: (bytes: number) => string): string {
  if (change.kind === "message") return `{"message":{"_id":"${id}","body":"${fillingOf(change.bytes)}"}}`;
  if (change.kind === "read") return change.payload;
  if (change.kind === "edit") return `{"message_edit":{"event":"${id}","id":"${change.id}"}}`;
  if (change.kind === "recall") return JSON.stringify({ message_delete: { event: id, ids: change.ids } });
  if (change.kind === "system") return `{"system_message":{"_id":"${id}"}}`;
  return JSON.stringify(change.kind === "membership" ? change.change : change.end);
}
