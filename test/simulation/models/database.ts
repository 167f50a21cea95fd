import type { MembershipChange, SessionEnd } from "../../../src/contract/log/control-events.ts";
import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import { logStart } from "../../../src/contract/log/log-place.ts";
import { blankedPayload } from "../../../src/contract/messages/changes.ts";
import { firstIdOf } from "../../../src/lib/text/ids.ts";
import type { UnreadMessage } from "../../../src/store/reads/ports.ts";
import { type Change, createPayloads, idIn, messagePayload, type SystemRecall, textsOf } from "./changes.ts";
import { createExpiries, type ExpiryFlaw } from "./expiries.ts";
import { createInboxReads } from "./inbox-reads.ts";
import { followInboxes, type InboxFlaw, planSystemRecalls } from "./inbox-rows.ts";
import {
  type Commit,
  createOrganization,
  forgetWhatFollows,
  headOf,
  lastsAt,
  type MarkedInbox,
  type Move,
  markKey,
  type Organization,
  shown,
  type Text,
  within,
} from "./organization.ts";

const pageBytes = 4 * 1024 * 1024;

/** The log and the directory in memory, as PostgreSQL would keep them. Every method is instantaneous. */
export type Database = ReturnType<typeof createDatabase>;

/** Bugs that are to be found. With `keepsTexts`, a recall is told, and its messages stay. */
export type Flaws = {
  keepsTexts?: boolean;
  inboxes?: InboxFlaw | undefined;
  expiry?: ExpiryFlaw | undefined;
  feeds?: FeedFlaw | undefined;
};

/** Bugs of what feeds read that are to be found: texts that are gone are shown, or nothing of them. */
export type FeedFlaw = "show what is gone" | "leave out what is gone";

/** A UUIDv7 of a time that tells how many came before it. */
function idOf(at: number, count: number): string {
  return `${firstIdOf(at).slice(0, -12)}${count.toString(16).padStart(12, "0")}`;
}

/** Creates a database without organizations. */
export function createDatabase(now: () => number, flaws: Flaws = {}) {
  const { keepsTexts = false, inboxes: flaw } = flaws;
  const organizations = new Map<string, Organization>();
  const eventById = new Map<string, LogEvent>();
  const readByFrame = new Map<string, LogEvent>();
  const editedTexts = new Map<string, Set<string>>(); // by the id of the message
  const changes = new Map<string, Change>(); // by the id of their event
  const payloadOf = createPayloads();
  let ids = 0;
  let failovers = 0;

  function get(org: string): Organization {
    const found = organizations.get(org);
    if (found === undefined) throw new Error(`there is no organization ${org}`);
    return found;
  }

  function create(org: string): Organization {
    const created = createOrganization(org);
    organizations.set(org, created);
    return created;
  }

  /** When an event expires: an edit with its message. */
  function expiryOf(org: string, change: Change): number | undefined {
    if (change.kind === "message" || change.kind === "system") return change.expiresAt;
    const isFlawed = flaws.expiry === "edits last";
    return change.kind === "edit" && !isFlawed ? get(org).texts.get(change.id)?.expiresAt : undefined;
  }

  /** The event of a change at an offset; nothing is stored yet. */
  function prepare(org: string, offset: number, change: Change): LogEvent {
    const id = idOf(now(), ++ids);
    const isTold = flaws.expiry !== "tells nobody" || !("hasExpired" in change);
    const event: LogEvent = {
      org,
      offset,
      kind: isTold ? change.kind : "blank",
      id,
      cid: "cid" in change ? change.cid : undefined,
      payload: isTold ? payloadOf(id, change, now()) : "",
      uids: "uids" in change ? change.uids : undefined,
      expiresAt: expiryOf(org, change),
    };
    eventById.set(id, event);
    changes.set(id, change);
    if (change.kind === "read") readByFrame.set(event.payload, event);
    return event;
  }

  /** Applies the effects of an event on texts. */
  function followText({ texts, blankedAt }: Organization, { event, told, at }: Commit): void {
    const { kind, id, offset, cid = "", expiresAt } = event;
    if (kind === "message" || kind === "system")
      texts.set(id, {
        kind,
        offset,
        cid,
        payload: undefined,
        edit: undefined,
        expiresAt,
        isRecalled: false,
        hasExpired: false,
      });
    for (const about of textsOf(told)) {
      const text = texts.get(about);
      if (text === undefined || keepsTexts) continue;
      if (text.edit !== undefined) blankedAt.set(text.edit, at);
      if (kind !== "edit") {
        blankedAt.set(text.offset, at);
        text.isRecalled = true;
        text.hasExpired ||= told !== undefined && "hasExpired" in told;
      } else {
        text.edit = offset;
        text.payload = messagePayload({ id: about, body: `edited by ${id}`, sender: senderOf(about), cid, at });
        editedTexts.set(about, (editedTexts.get(about) ?? new Set()).add(text.payload));
      }
    }
  }

  /** Applies the effects of an event. */
  function follow(organization: Organization, committed: Commit): void {
    const { id, participants, marks, validAfter } = organization;
    const { event, change, moves } = committed;
    followText(organization, committed);
    followInboxes(organization, committed, flaw);
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

  type Marking = { moves?: readonly Move[]; marked?: readonly MarkedInbox[] };

  /** Stores events at their offsets, with their effects, and sets their predecessors. Marks change with the last one. */
  function commit(org: string, events: LogEvent[], { moves = [], marked = [] }: Marking = {}): void {
    const organization = get(org);
    const { commits } = organization;
    for (const event of events) {
      const change: MembershipChange | undefined = event.kind === "membership" ? JSON.parse(event.payload) : undefined;
      event.prev = event.offset === 1 ? logStart.id : commits[event.offset - 1]?.event.id;
      const marking = event === events.at(-1) ? { moves, marked } : { moves: [], marked: [] };
      const committed = { event, told: changes.get(event.id), at: now(), change, ...marking };
      commits[event.offset] = committed;
      organization.head = Math.max(organization.head, event.offset);
      follow(organization, committed);
    }
  }

  /** A standby takes over without anything committed after a time. */
  function failOver(upToMs: number): void {
    failovers++;
    for (const organization of organizations.values()) {
      const { commits, head, validAfter, lost } = organization;
      const kept = commits.findLastIndex((one) => one !== undefined && one.at <= upToMs);
      if (kept === head) continue;
      lost.push({
        commits: [...commits],
        validAfter: new Map(validAfter),
        blankedAt: new Map(organization.blankedAt),
        keptUpTo: kept,
        endedAt: now(),
      });
      commits.length = kept + 1;
      organization.head = kept;
      organization.givenOut = kept;
      organization.purgedUpTo = Math.min(organization.purgedUpTo, kept);
      forgetWhatFollows(organization);
      for (const one of commits) if (one !== undefined) follow(organization, one);
    }
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

  /** An event as feeds read it: what has lost its text, or has expired, says only who sent it when. */
  function shownToFeeds(event: LogEvent): LogEvent {
    const commit = get(event.org).commits[event.offset];
    if (commit === undefined || (event.kind !== "blank" && lastsAt(event, now()))) return event;
    const { kind, payload } = commit.event;
    if (flaws.feeds === "show what is gone") return commit.event;
    if (flaws.feeds === "leave out what is gone") return { ...event, kind: "blank", payload: "" };
    const blank = kind === "message" || kind === "system" ? blankedPayload(payload) : undefined;
    return blank === undefined
      ? { ...event, kind: "blank", payload: "" }
      : { ...event, kind, payload: blank, expiresAt: undefined };
  }

  function senderOf(id: string): string {
    const change = changes.get(id);
    return change !== undefined && "sender" in change ? change.sender : "";
  }

  type IsWanted = (id: string, text: Pick<Text, "kind" | "cid">) => boolean;

  /** The ids of the newest texts that are there. */
  function newest(org: string, count: number, isWanted: IsWanted): string[] {
    const { texts, purgedUpTo } = get(org);
    const isThere = (text: Text) => !text.isRecalled && text.offset > purgedUpTo && lastsAt(text, now());
    const there = [...texts].filter(([id, text]) => isThere(text) && isWanted(id, text));
    return there.slice(-count).map(([id]) => id);
  }

  const isMissedBy = (org: string, uid: string) => (event: LogEvent) =>
    lastsAt(event, now()) &&
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
    readShown: (org: string, offset: number, limit: number, maxBytes: number) =>
      within(
        maxBytes,
        stored(org, offset, get(org).head, () => true)
          .slice(0, limit)
          .map(shownToFeeds),
      ),
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
        hasInboxes: get(org).inboxRows.length > 0,
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
    inboxReads: createInboxReads(get, now, flaws),
    expiries: createExpiries({ organizations, now, senderOf, flaw: flaws.expiry }),
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
      const isUnread = ({ kind, cid: of, id, expiresAt }: LogEvent) =>
        kind === "message" && of === cid && senderOf(id) !== uid && lastsAt({ expiresAt }, now());
      return stored(org, mark, upTo, isUnread).map(({ offset, id }) => ({ offset, id, sender: senderOf(id) }));
    },
    /** The event whose payload is exactly this frame, or was after an edit. */
    eventOf(frame: string): LogEvent | undefined {
      const read = readByFrame.get(frame);
      if (read !== undefined) return read;
      const event = eventById.get(idIn(frame) ?? "");
      return event?.payload === frame || editedTexts.get(event?.id ?? "")?.has(frame) === true ? event : undefined;
    },
    /** When what an event tells is to expire: an edit with its message, whatever the database has made of it. */
    expiryOf({ id }: LogEvent): number | undefined {
      const told = changes.get(id);
      const about = told?.kind === "edit" ? changes.get(told.id) : told;
      return about !== undefined && "expiresAt" in about ? about.expiresAt : undefined;
    },
    /** The ids of the newest messages of a conversation that were not taken back. */
    newestOf: (org: string, cid: string, count: number): string[] =>
      newest(org, count, (_, text) => text.kind === "message" && text.cid === cid),
    /** The ids of the newest system messages of a sender that were not taken back. */
    newestSystemOf: (org: string, sender: string, count: number): string[] =>
      newest(org, count, (id, { kind }) => kind === "system" && senderOf(id) === sender),
    /** The changes that take system messages of one sender back. */
    planSystemRecalls: (org: string, sender: string, ids: readonly string[]): SystemRecall[] =>
      planSystemRecalls(get(org), { sender, ids, flaw }),
  };
}
