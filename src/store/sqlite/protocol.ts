import { type ErrorCode, HeraldError } from "../../contract/errors/errors.ts";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { idSeparator } from "../../lib/text/ids.ts";
import type { NamedFile } from "../files/ports.ts";
import type { NewSend, SendOutcome, SendVerdict } from "../ports.ts";
import type { Row, SqlValue } from "../sql/driver.ts";
import { ForeignLogError } from "./own-files.ts";
import { DatabaseInUseError } from "./sqlite.ts";

/**
 * A request from a serving thread to the writing thread. Batches cross as text (`packSends`), which costs a fifth of
 * cloning objects. Others are cloned, as text cannot express `undefined`.
 */
export type WriteRequest = { port: string; method: string; args: unknown[] } | { sends: string };

/** A request with the id of its answer. */
export type Call = { id: number } & WriteRequest;

/** An error as it crosses threads, which drop its class. */
export type SentError = {
  name: string;
  message: string;
  stack: string | undefined;
  code?: ErrorCode;
  headers?: Record<string, string>;
  /** What the database said. */
  cause?: { name: string; message: string; code: string };
};

/**
 * What the writing thread reports: migration progress; the result of opening, once; the events of each commit except
 * those of batches; and the result of each call.
 */
export type Report =
  | { kind: "migration"; message: string; facts: Record<string, string | number> }
  | ({ kind: "opened" } & Opened)
  | { kind: "failed"; error: SentError }
  | { kind: "committed"; events: LogEvent[] }
  | ({ kind: "answer"; id: number } & Answer);

/** The database is open: its schema versions before and after, and the methods of the ports. */
export type Opened = { from: number; to: number; methods: Methods };

/** What the writing thread starts with: the file, and whether several processes write through it. */
export type WriterData = { file: string; isShared: boolean };

/** The methods of the ports of the writing thread. */
export type Methods = Readonly<Record<string, readonly string[]>>;

/** A query from the serving thread to a reading thread, or the request to close the database. */
export type ReadRequest = { id: number; text: string; values: SqlValue[] } | "close";

/**
 * What a reading thread reports: that it has opened or closed the database, and the rows or the error of each query.
 */
export type ReadReport =
  | { kind: "opened" | "closed" }
  | { kind: "rows"; id: number; rows: Row[]; tookMs: number }
  | { kind: "error"; id: number; error: SentError };

/** The result of a call. */
export type Answer = { value: unknown } | { outcomes: SentOutcome[] } | { error: SentError };

/**
 * The outcome of a send as it crosses threads. Nearly every send is stored right after its predecessor in the batch;
 * then the offset alone is enough.
 */
export type SentOutcome =
  | number
  | [offset: number, prev: string | undefined, webhooks?: number]
  | SendVerdict
  | { outcome: "failed"; error: SentError };

/** Converts an error for the other thread. */
export function sendError(error: unknown): SentError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error), stack: undefined };
  const { name, message, stack } = error;
  if (!(error instanceof HeraldError)) return { name, message, stack, cause: causeOf(error) };
  const { code, headers, cause } = error;
  return { name, message, stack, code, headers, ...(cause instanceof Error && { cause: causeOf(cause) }) };
}

function causeOf(error: Error): NonNullable<SentError["cause"]> {
  return { name: error.name, message: error.message, code: "code" in error ? String(error.code) : "" };
}

/** Restores an error, with its class. */
export function receiveError({ name, message, stack, code, headers = {}, cause }: SentError): Error {
  const told = cause && Object.assign(new Error(cause.message), { name: cause.name, code: cause.code });
  if (code !== undefined) return new HeraldError(code, message, { headers, cause: told ?? stack });
  if (name === "DatabaseInUseError") return new DatabaseInUseError(message);
  if (name === "ForeignLogError") return new ForeignLogError(message);
  return Object.assign(new Error(message, { cause: stack }), cause?.code ? { code: cause.code } : {});
}

/** Converts the outcomes of a batch for the other thread. */
export function packOutcomes(sends: readonly NewSend[], outcomes: readonly SendOutcome[]): SentOutcome[] {
  const lastOf = new Map<string, string>();
  return outcomes.map((outcome, index) => {
    if (outcome.outcome === "failed") return { outcome: "failed", error: sendError(outcome.error) };
    if (outcome.outcome !== "stored") return outcome;
    const { id, offset, prev, webhooks } = outcome;
    const { org = "" } = sends[index] ?? {};
    const isNext = prev !== undefined && lastOf.get(org) === prev;
    lastOf.set(org, id);
    if (webhooks !== undefined) return [offset, prev, webhooks];
    return isNext ? offset : [offset, prev];
  });
}

/** Restores the outcomes packed by `packOutcomes`, given the same sends. */
export function unpackOutcomes(sends: readonly NewSend[], outcomes: readonly SentOutcome[]): SendOutcome[] {
  const lastOf = new Map<string, string>();
  return outcomes.map((outcome, index) => {
    if (typeof outcome !== "number" && !Array.isArray(outcome))
      return outcome.outcome === "failed" ? { outcome: "failed", error: receiveError(outcome.error) } : outcome;
    const { org = "", id = "", createdAt = 0 } = sends[index] ?? {};
    const [offset, prev, webhooks] = typeof outcome === "number" ? [outcome, lastOf.get(org)] : outcome;
    lastOf.set(org, id);
    return { outcome: "stored", id, createdAt, offset, prev, webhooks };
  });
}

const fieldsPerSend = 17;

/**
 * Packs sends into one text. The separator of identifiers works for JSON texts too, as they escape it (RFC 8259,
 * section 7), so nothing needs escaping or parsing.
 */
export function packSends(sends: readonly NewSend[]): string {
  const fields: string[] = []; // of one type: joining takes a third of the time
  for (const {
    org,
    kind,
    id,
    cid = "",
    sender,
    mid = "",
    fingerprint,
    payload,
    files,
    uids,
    kept,
    silent,
    isOpen,
    piece,
    expiresAt = "",
    referred,
    createdAt,
    keyId,
  } of sends) {
    const [named, recipients, keeping] = [textOf(files), textOf(uids), textOf(kept)];
    const marks = (silent ? "s" : "") + (isOpen ? "o" : "");
    fields.push(org, kind, id, cid, sender, mid, fingerprint, payload);
    fields.push(
      named,
      recipients,
      keeping,
      marks,
      textOf(piece),
      `${expiresAt}`,
      textOf(referred),
      `${createdAt}`,
      keyId,
    );
  }
  return fields.join(idSeparator);
}

/** Restores the sends that `packSends` packed. Throws if a field contained the separator after all. */
export function unpackSends(text: string): NewSend[] {
  const fields = text.split(idSeparator);
  if (fields.length % fieldsPerSend !== 0) throw new Error("a send holds a control character where none may be");
  const sends: NewSend[] = [];
  let at = 0;
  const next = () => fields[at++] ?? "";
  while (at < fields.length) {
    sends.push({
      org: next(),
      kind: kindOf(next()),
      id: next(),
      cid: next() || undefined,
      sender: next(),
      mid: next() || undefined,
      fingerprint: next(),
      payload: next(),
      files: parsed<NamedFile[]>(next()),
      uids: parsed<string[]>(next()),
      kept: parsed<NonNullable<NewSend["kept"]>>(next()),
      ...marksIn(next()),
      piece: parsed<NonNullable<NewSend["piece"]>>(next()),
      expiresAt: Number(next()) || undefined,
      referred: parsed<string[]>(next()),
      createdAt: Number(next()),
      keyId: next(),
    });
  }
  return sends;
}

function kindOf(name: string | undefined): NewSend["kind"] {
  return name === "system" || name === "append" ? name : "message";
}

function marksIn(marks: string): Pick<NewSend, "silent" | "isOpen"> {
  return { silent: marks.includes("s") || undefined, isOpen: marks.includes("o") || undefined };
}

function textOf(value: object | undefined): string {
  return value === undefined ? "" : JSON.stringify(value);
}

function parsed<Value>(text: string): Value | undefined {
  return text === "" ? undefined : JSON.parse(text);
}
