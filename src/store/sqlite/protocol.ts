import { type ErrorCode, HeraldError } from "../../contract/errors/errors.ts";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { idSeparator } from "../../lib/text/joined-ids.ts";
import type { ConversationPut, NewSend, SendOutcome, SendVerdict } from "../ports.ts";
import type { Row, SqlValue } from "../sql/driver.ts";
import { DatabaseInUseError } from "./sqlite.ts";

/**
 * A call from the thread that serves to the thread that writes. Batches cross as text (`packSends`): copying a string costs
 * a fifth of cloning its objects. Other calls cross as they are, since text has no `undefined`.
 */
export type Call = { id: number } & ({ port: string; method: string; args: unknown[] } | { sends: string });

/** An error as it crosses between threads, which keep no classes. */
export type SentError = {
  name: string;
  message: string;
  stack: string | undefined;
  code?: ErrorCode;
  headers?: Record<string, string>;
};

/** What the writing thread tells: how the schema is brought up to date; how opening went, once; then the events of each commit but those of batches, and the end of each call. */
export type Report =
  | { kind: "migration"; message: string; facts: Record<string, string | number> }
  | { kind: "opened"; from: number; to: number }
  | { kind: "failed"; error: SentError }
  | { kind: "committed"; events: LogEvent[] }
  | ({ kind: "answer"; id: number } & Answer);

/** A query from the thread that serves to one that reads, or the wish that it closes the database. */
export type ReadRequest = { id: number; text: string; values: SqlValue[] } | "close";

/** What a thread that reads tells: that it has opened the database, once; the rows of each query, or why there are none. */
export type ReadReport =
  | { kind: "opened" | "closed" }
  | { kind: "rows"; id: number; rows: Row[]; tookMs: number }
  | { kind: "error"; id: number; error: SentError };

/** How a call ended. */
export type Answer = { value: unknown } | { outcomes: SentOutcome[] } | { error: SentError };

/** The outcome of a send as it crosses. Nearly every send is stored right after the one before it in the batch: then its offset says it all. */
export type SentOutcome =
  | number
  | [offset: number, prev: string | undefined]
  | SendVerdict
  | { outcome: "failed"; error: SentError };

/** An error made ready to cross. */
export function sendError(error: unknown): SentError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error), stack: undefined };
  const { name, message, stack } = error;
  return error instanceof HeraldError
    ? { name, message, stack, code: error.code, headers: error.headers }
    : { name, message, stack };
}

/** The error that crossed, of the class that it had. */
export function receiveError({ name, message, stack, code, headers = {} }: SentError): Error {
  if (code !== undefined) return new HeraldError(code, message, { headers, cause: stack });
  if (name === "DatabaseInUseError") return new DatabaseInUseError(message);
  return new Error(message, { cause: stack });
}

/** The outcomes of a batch made ready to cross. */
export function packOutcomes(sends: readonly NewSend[], outcomes: readonly SendOutcome[]): SentOutcome[] {
  const lastOf = new Map<string, string>();
  return outcomes.map((outcome, index) => {
    if (outcome.outcome === "failed") return { outcome: "failed", error: sendError(outcome.error) };
    if (outcome.outcome !== "stored") return outcome;
    const { id, offset, prev } = outcome;
    const { org = "" } = sends[index] ?? {};
    const isNext = prev !== undefined && lastOf.get(org) === prev;
    lastOf.set(org, id);
    return isNext ? offset : [offset, prev];
  });
}

/** The outcomes that `packOutcomes` made ready, of the same sends. */
export function unpackOutcomes(sends: readonly NewSend[], outcomes: readonly SentOutcome[]): SendOutcome[] {
  const lastOf = new Map<string, string>();
  return outcomes.map((outcome, index) => {
    if (typeof outcome !== "number" && !Array.isArray(outcome))
      return outcome.outcome === "failed" ? { outcome: "failed", error: receiveError(outcome.error) } : outcome;
    const { org = "", id = "", createdAt = 0 } = sends[index] ?? {};
    const [offset, prev] = typeof outcome === "number" ? [outcome, lastOf.get(org)] : outcome;
    lastOf.set(org, id);
    return { outcome: "stored", id, createdAt, offset, prev };
  });
}

/** A change of a conversation as it crosses: participants as one text, since 100,000 texts take 50 ms to clone, and one takes two. */
export type SentPut = Omit<ConversationPut, "participants"> & { participants: string | undefined };

/** A change of a conversation made ready to cross. */
export function packPut({ name, participants }: ConversationPut): SentPut {
  return { name, participants: participants?.join(idSeparator) };
}

/** The change that `packPut` made ready. */
export function unpackPut({ name, participants }: SentPut): ConversationPut {
  return { name, participants: participants === "" ? [] : participants?.split(idSeparator) };
}

const fieldsPerSend = 11;

/**
 * Sends as one text. What keeps identifiers apart keeps JSON texts apart as well, since they escape it (RFC 8259, section 7);
 * so nothing has to be escaped or parsed.
 */
export function packSends(sends: readonly NewSend[]): string {
  const fields: (string | number)[] = [];
  for (const { org, kind, id, cid = "", sender, mid = "", fingerprint, payload, uids, createdAt, keyId } of sends) {
    const recipients = uids === undefined ? "" : JSON.stringify(uids);
    fields.push(org, kind, id, cid, sender, mid, fingerprint, payload, recipients, createdAt, keyId);
  }
  return fields.join(idSeparator);
}

/** The sends of a text that `packSends` made. Throws when something held the separator after all. */
export function unpackSends(text: string): NewSend[] {
  const fields = text.split(idSeparator);
  if (fields.length % fieldsPerSend !== 0) throw new Error("a send holds a control character where none may be");
  const sends: NewSend[] = [];
  for (let start = 0; start < fields.length; start += fieldsPerSend) {
    const [
      org = "",
      kind,
      id = "",
      cid,
      sender = "",
      mid,
      fingerprint = "",
      payload = "",
      uids,
      createdAt,
      keyId = "",
    ] = fields.slice(start, start + fieldsPerSend);
    sends.push({
      org,
      kind: kind === "system" ? kind : "message",
      id,
      cid: cid || undefined,
      sender,
      mid: mid || undefined,
      fingerprint,
      payload,
      uids: uids ? JSON.parse(uids) : undefined,
      createdAt: Number(createdAt),
      keyId,
    });
  }
  return sends;
}
