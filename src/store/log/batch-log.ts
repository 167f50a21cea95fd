import { HeraldError } from "../../contract/errors/errors.ts";
import { lengthOf } from "../../contract/messages/append.ts";
import { joinIds } from "../../lib/text/ids.ts";
import { nameFiles } from "../files/files.ts";
import type { NamedFile } from "../files/ports.ts";
import { type KeptSend, keepInInboxes } from "../inbox/inbox-writes.ts";
import { databaseTime } from "../messages/expiry-rule.ts";
import { findGrowths, type Growing, type Growth, grow, growthRow } from "../messages/growth.ts";
import { findVisible, visibleKeyOf } from "../messages/visible.ts";
import type { BatchLog, NewSend, SendOutcome, SendVerdict } from "../ports.ts";
import type { Row } from "../sql/driver.ts";
import type { LogTransaction, LogWriter, Looking } from "./log-writer.ts";

type Missing = Extract<SendOutcome, { outcome: "refused" }>["missing"];
type Finding = Looking["rows"];
type Piece = NonNullable<NewSend["piece"]>;
type Earlier = Pick<NewSend, "id" | "createdAt" | "fingerprint">;
type Conversation = { updatedAt: number; participants: number };

/** The facts that decide a batch of sends: earlier sends with the same ids, the rows they name, and the time. */
export type Circumstances = {
  known: Map<string, Earlier>;
  conversations: Map<string, Conversation>;
  participants: Set<string>;
  users: Set<string>;
  /** Those of the files that sends name by ids of their callers. */
  files: Set<string>;
  /** Those of the messages that sends name which their senders see, by organization, sender and id. */
  visible: Set<string>;
  /** The messages that sends append to, by id, and what they append. */
  growths: Map<string, Growth>;
  growing: Map<string, Growing>;
  /** The time of the database's clock, if a send expires or grows; otherwise 0. */
  now: number;
};

/**
 * Creates the batch log. If a batch fails as a whole, its sends are tried one by one, so that a bad one fails alone. Once
 * the database fails, none of those behind is tried, so that none comes before those in front of it.
 */
export function createBatchLog({ writer }: { writer: LogWriter }): BatchLog {
  const append = (sends: NewSend[]) => {
    const orgs = sends.map(({ org }) => org);
    const look = (sql: Looking) => findCircumstances(sql, sends);
    return writer.commitBatch(orgs, look, async (transaction, seen) => {
      const outcomes = appendInTransaction(transaction, seen, sends);
      if (seen.growing.size > 0) await grow(transaction, [...seen.growing.values()]);
      return outcomes;
    });
  };

  return {
    async appendAll(sends) {
      try {
        return await append(sends);
      } catch (error) {
        if (sends.length === 1 || error instanceof HeraldError) throw error;
        const outcomes: SendOutcome[] = [];
        let outage: HeraldError | undefined;
        const noteFailure = (failure: unknown): SendOutcome[] => {
          if (failure instanceof HeraldError) outage = failure;
          return [{ outcome: "failed", error: failure }];
        };
        for (const send of sends)
          outcomes.push(...(outage === undefined ? await append([send]).catch(noteFailure) : noteFailure(outage)));
        return outcomes;
      }
    },
    check: (send) =>
      writer.check(send.org, async (sql, head) => {
        const heads = new Map(head === undefined ? [] : [[send.org, head]]);
        const circumstances = await findCircumstances(sql, [send]);
        const conversation = circumstances.conversations.get(joinIds(send.org, send.cid ?? ""));
        return { verdict: verdictOf(circumstances, heads, send), participants: conversation?.participants ?? 0 };
      }),
  };
}

/** Appends sends in a transaction that holds their organizations. Returns one outcome per send, in order. */
export function appendInTransaction(
  { sql, heads, emit }: LogTransaction,
  circumstances: Circumstances,
  sends: NewSend[],
): SendOutcome[] {
  const touched = new Map<string, { org: string; id: string; updated_at: number }>();
  const naming: (NewSend & { files: readonly NamedFile[] })[] = [];
  const keeping: KeptSend[] = [];
  const opening: Row[] = [];
  const store = (send: NewSend, recipients?: number): SendOutcome => {
    const { offset, prev, webhooks } = emit(send, recipients);
    if (send.files !== undefined) naming.push({ ...send, files: send.files });
    if (send.kept !== undefined) keeping.push({ ...send, kept: send.kept, offset });
    if (send.isOpen) opening.push(growthRow(send, { offset, at: circumstances.now }));
    return { outcome: "stored", id: send.id, createdAt: send.createdAt, offset, prev, webhooks };
  };
  const storePiece = (send: NewSend, piece: Piece): SendOutcome => {
    const growth = circumstances.growths.get(piece.of);
    if (growth === undefined) return { outcome: "refused", missing: "message", message: piece.of };
    const stored = emit({ ...send, silent: growth.silent || undefined });
    noteGrowth(circumstances, growth, { ...piece, at: circumstances.now, lastOffset: stored.offset });
    return { outcome: "stored", id: send.id, createdAt: send.createdAt, ...stored };
  };
  const outcomes = sends.map((send): SendOutcome => {
    const verdict = verdictOf(circumstances, heads, send);
    if (verdict !== undefined) return verdict;
    const { org, cid, mid, kind, createdAt } = send;
    if (mid !== undefined) circumstances.known.set(sendKeyOf(send, mid), send);
    if (send.piece !== undefined) return storePiece(send, send.piece);
    if (cid === undefined) return store(send);
    const key = joinIds(org, cid);
    const conversation = circumstances.conversations.get(key);
    const updatedAt = touched.get(key)?.updated_at ?? conversation?.updatedAt ?? 0;
    const isLater = kind === "message" && createdAt > updatedAt;
    if (isLater) touched.set(key, { org, id: cid, updated_at: createdAt });
    return store(send, conversation?.participants);
  });

  sql.lastly(sql.rows.update("conversation", ["org", "id"], [...touched.values()]));
  if (naming.length > 0) sql.lastly(nameFiles(sql, naming));
  if (keeping.length > 0) sql.lastly(keepInInboxes(sql, keeping));
  if (opening.length > 0) sql.lastly(sql.rows.insert("growth", opening));
  return outcomes;
}

/** Reads the facts that decide the sends, in the state that their transaction sees. */
export async function findCircumstances(sql: Looking, sends: NewSend[]): Promise<Circumstances> {
  const { rows } = sql;
  const [known, conversations, participants, users, files, visible, growths, now] = await Promise.all([
    findEarlier(rows, sends),
    findConversations(rows, sends),
    findParticipants(rows, sends),
    findUsers(rows, sends),
    findFiles(rows, sends),
    findVisible(sql, sends),
    findGrowths(sql, sends),
    sends.some(needsTime) ? databaseTime(sql) : 0,
  ]);
  return { known, conversations, participants, users, files, visible, growths, growing: new Map(), now };
}

const needsTime = ({ expiresAt, isOpen, piece }: NewSend) => (expiresAt ?? isOpen ?? piece) !== undefined;

/** Why a send must not be stored; `undefined` if it may. `heads` holds the organizations that exist. */
function verdictOf(
  circumstances: Circumstances,
  heads: ReadonlyMap<string, number>,
  send: NewSend,
): SendVerdict | undefined {
  if (!heads.has(send.org)) return { outcome: "refused", missing: "organization" }; // rows of a deleted organization may still exist
  const before = send.mid === undefined ? undefined : circumstances.known.get(sendKeyOf(send, send.mid));
  if (before !== undefined) {
    if (before.fingerprint !== send.fingerprint) return unfitting(circumstances, send) ?? { outcome: "conflict" };
    return { outcome: "replayed", id: before.id, createdAt: before.createdAt };
  }
  const missing = missingOf(circumstances, send);
  if (missing !== undefined) return { outcome: "refused", missing };
  if (send.expiresAt !== undefined && send.expiresAt <= circumstances.now)
    return { outcome: "refused", missing: "time" };
  const file = missingFileOf(circumstances, send);
  if (file !== undefined) return { outcome: "refused", missing: "file", file };
  const message = unseenBy(circumstances, send);
  if (message !== undefined) return { outcome: "refused", missing: "message", message };
  return unfitting(circumstances, send);
}

/** Why a piece cannot be appended to its message; `undefined` if it can, or the send is none. */
function unfitting({ growths }: Circumstances, { org, piece }: NewSend): SendVerdict | undefined {
  if (piece === undefined) return undefined;
  const growth = growths.get(piece.of);
  if (growth === undefined || growth.org !== org) return { outcome: "refused", missing: "message", message: piece.of };
  return growth.isOpen && growth.length === piece.offset ? undefined : { outcome: "unfit", length: growth.length };
}

/** Notes what a piece adds to its message, for those behind it in the batch, too. */
function noteGrowth(
  { growths, growing }: Circumstances,
  growth: Growth,
  { text, isDone, at, lastOffset }: Piece & { at: number; lastOffset: number },
): void {
  const { texts, growth: first } = growing.get(growth.id) ?? { texts: [], growth };
  growing.set(growth.id, { growth: first, texts: [...texts, text], lastOffset, isDone, at });
  growths.set(growth.id, { ...growth, length: growth.length + lengthOf(text), isOpen: !isDone });
}

function missingOf({ users, conversations, participants }: Circumstances, send: NewSend): Missing | undefined {
  const { org, cid, sender } = send;
  if (cid === undefined) return users.has(joinIds(org, sender)) ? undefined : "user";
  if (!conversations.has(joinIds(org, cid))) return "conversation";
  return participants.has(joinIds(org, cid, sender)) ? undefined : "participant";
}

function missingFileOf({ files }: Circumstances, { org, files: named = [] }: NewSend): string | undefined {
  return named.find(({ id, isGiven }) => isGiven && !files.has(joinIds(org, id)))?.id;
}

function unseenBy({ visible }: Circumstances, { org, sender, referred = [] }: NewSend): string | undefined {
  return referred.find((id) => !visible.has(visibleKeyOf(org, sender, id)));
}

async function findEarlier(rows: Finding, sends: NewSend[]): Promise<Map<string, Earlier>> {
  const keys = distinct(sends, (send) =>
    send.mid === undefined
      ? undefined
      : [sendKeyOf(send, send.mid), { org: send.org, kind: send.kind, sender: send.sender, mid: send.mid }],
  );
  const columns = ["org", "kind", "sender", "mid", "id", "created_at", "fingerprint"];
  type Found = Pick<NewSend, "org" | "kind" | "sender" | "id" | "fingerprint"> & { mid: string; created_at: number };
  const found = await rows.find<Found>("event", columns, keys);
  return new Map(found.map((row) => [sendKeyOf(row, row.mid), { ...row, createdAt: Number(row.created_at) }]));
}

/** The conversations addressed, with the time of their last message and their number of participants. */
async function findConversations(rows: Finding, sends: NewSend[]): Promise<Map<string, Conversation>> {
  const keys = distinct(sends, ({ org, cid }) =>
    cid === undefined ? undefined : [joinIds(org, cid), { org, id: cid }],
  );
  type Found = { org: string; id: string; updated_at: number; participants: number };
  const found = await rows.find<Found>("conversation", ["org", "id", "updated_at", "participants"], keys);
  return new Map(
    found.map(({ org, id, updated_at, participants }) => [
      joinIds(org, id),
      { updatedAt: Number(updated_at), participants: Number(participants) },
    ]),
  );
}

async function findParticipants(rows: Finding, sends: NewSend[]): Promise<Set<string>> {
  const keys = distinct(sends, ({ org, cid, sender: uid }) =>
    cid === undefined ? undefined : [joinIds(org, cid, uid), { org, cid, uid }],
  );
  type Found = { org: string; cid: string; uid: string };
  const found = await rows.find<Found>("participant", ["org", "cid", "uid"], keys);
  return new Set(found.map(({ org, cid, uid }) => joinIds(org, cid, uid)));
}

async function findUsers(rows: Finding, sends: NewSend[]): Promise<Set<string>> {
  const keys = distinct(sends, ({ org, cid, sender: id }) =>
    cid === undefined ? [joinIds(org, id), { org, id }] : undefined,
  );
  type Found = { org: string; id: string; deleted_at: number | null };
  const found = await rows.find<Found>("user", ["org", "id", "deleted_at"], keys);
  return new Set(found.filter(({ deleted_at }) => deleted_at === null).map(({ org, id }) => joinIds(org, id)));
}

async function findFiles(rows: Finding, sends: NewSend[]): Promise<Set<string>> {
  const given = sends.flatMap(({ org, files = [] }) =>
    files.flatMap(({ id, isGiven }) => (isGiven ? [{ org, id }] : [])),
  );
  if (given.length === 0) return new Set();
  const now = Math.min(...sends.map(({ createdAt }) => createdAt));
  type Found = { org: string; id: string; keep_until: number | null };
  const found = await rows.find<Found>("file", ["org", "id", "keep_until"], given);
  const kept = found.filter(({ keep_until }) => keep_until === null || Number(keep_until) > now);
  return new Set(kept.map(({ org, id }) => joinIds(org, id)));
}

/** Removes duplicates, as many sends of a batch look up the same rows. */
function distinct<Key>(sends: NewSend[], keyOfSend: (send: NewSend) => [text: string, key: Key] | undefined): Key[] {
  const keys = new Map<string, Key>();
  for (const send of sends) {
    const entry = keyOfSend(send);
    if (entry !== undefined) keys.set(...entry);
  }
  return [...keys.values()];
}

function sendKeyOf({ org, kind, sender }: Pick<NewSend, "org" | "kind" | "sender">, mid: string): string {
  return joinIds(org, kind, sender, mid);
}
