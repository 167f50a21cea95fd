import { HeraldError, toHeraldError } from "../../contract/errors/errors.ts";
import { type ProblemForm, problemDocument } from "../../contract/errors/problem.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import { forgetOldest } from "../../lib/caches/forget-oldest.ts";
import { createQueue } from "../../lib/queues/queue.ts";
import type { Clock, SteadyClock } from "../../lib/time/clock.ts";
import type { OutboxEnd, OutboxRow } from "../../store/outbox/ports.ts";
import type { NewSend, SendLog, SendOutcome } from "../../store/ports.ts";
import { unlisted } from "../keys/permissions.ts";
import type { OrganizationUse, TellStored } from "../limits/organization-use.ts";
import { createBatchLineReader } from "../messages/batch-lines.ts";
import { tellAppended, toMessageSend, toSystemSend } from "../messages/messages.ts";

/** What became of some rows, and the error that keeps the others waiting, if there is one. */
export type OutboxOutcome = { ended: OutboxEnd[]; sent: number; refused: number; failure: HeraldError | undefined };

/** Sends rows of an organization in their order; the first that cannot be sent now ends it. Never rejects. */
export type OutboxSends = (org: string, rows: readonly OutboxRow[]) => Promise<OutboxOutcome>;

type Dependencies = {
  sends: Pick<SendLog, "appendTogether">;
  use: Pick<OrganizationUse, "know" | "admitSend">;
  limits: PayloadLimits;
  clock: Clock;
  elapsed: SteadyClock;
  onError(error: unknown): void;
  problemForm?: ProblemForm;
  /** Called with each row that is refused. */
  onRefused(org: string, id: string, reason: HeraldError): void;
};

// These share a commit, so that none is stored if one before it is not.
const atOnce = { items: 64, weight: 64 * 1024 };
// These say nothing about the row: it is sent again, with its id.
const passing = new Set(["unavailable", "storage_full", "internal", "rate_limited"]);
const caller = unlisted("outbox");

const triesBeforeLast = 9;
const suspectForMs = 60_000;
const maxOrganizations = 1_000;

const tooLong = "the request exceeds HERALD_LIMIT_REQUEST_BYTES, as the text that PostgreSQL makes of it";
const givenUp =
  "the server failed at this row again and again, and not at those behind it; its log has the cause. The row may have been sent: send it again under its id";

/**
 * How the first row of an organization is tried: `alone` after it failed for an unforeseen reason; `last` once that has been so
 * for a minute.
 */
type Trial = "usual" | "alone" | "last";

type Admitted = { row: OutboxRow; send: NewSend; tell: TellStored };
type Tried = { row: OutboxRow; error: HeraldError | undefined };

/**
 * Creates the sending of rows. The id of a row is that of its send, so a row that is sent again is a retry. A row at which the
 * server fails for an unforeseen reason is refused in the end, if those behind it can be sent.
 */
export function createOutboxSends({
  sends,
  use,
  limits,
  clock,
  elapsed,
  onError,
  problemForm,
  onRefused,
}: Dependencies): OutboxSends {
  const suspects = createSuspects(elapsed);
  const reader = createBatchLineReader({ limits, longLines: createQueue(() => new HeraldError("unavailable")) });

  /** What went wrong with a row, which is reported if nobody foresaw it. */
  function faultOf(thrown: unknown): HeraldError {
    if (!(thrown instanceof HeraldError)) onError(thrown);
    return toHeraldError(thrown);
  }

  async function prepare(row: OutboxRow): Promise<NewSend | HeraldError> {
    try {
      if (row.request === undefined) throw new HeraldError("payload_too_large", tooLong);
      const { kind, request } = await reader.read(row.request, caller);
      if (kind === "message")
        return toMessageSend(caller, { ...request, message: { id: row.id, ...request.message } }, clock.now());
      const messageSystem = { id: row.id, ...request.messageSystem };
      return await toSystemSend(caller, { ...request, messageSystem }, clock.now());
    } catch (thrown) {
      return faultOf(thrown);
    }
  }

  async function follow({ row, send, tell }: Admitted, appending: Promise<SendOutcome>): Promise<Tried> {
    try {
      await tellAppended(appending, send, tell);
      return { row, error: undefined };
    } catch (thrown) {
      return { row, error: faultOf(thrown) };
    }
  }

  /** Sends rows in one commit, in their order; none after one that cannot be admitted now. */
  async function sendGroup(group: OutboxRow[]): Promise<Tried[]> {
    const prepared = await Promise.all(group.map(async (row) => ({ row, send: await prepare(row) })));
    const admitted: Admitted[] = [];
    const tried = new Map<OutboxRow, Promise<Tried>>();
    const refuse = (row: OutboxRow, error: HeraldError) => tried.set(row, Promise.resolve({ row, error }));
    for (const { row, send } of prepared) {
      if (send instanceof HeraldError) {
        refuse(row, send);
        continue;
      }
      try {
        admitted.push({ row, send, tell: await use.admitSend(send) });
      } catch (thrown) {
        const error = toHeraldError(thrown);
        refuse(row, error);
        if (passing.has(error.code)) break;
      }
    }
    const appending = sends.appendTogether(admitted.map(({ send }) => send));
    for (const [index, outcome] of appending.entries()) {
      const one = admitted[index];
      if (one !== undefined) tried.set(one.row, follow(one, outcome));
    }
    return await Promise.all(group.flatMap((row) => tried.get(row) ?? []));
  }

  return async (org, rows) => {
    const outcome: OutboxOutcome = { ended: [], sent: 0, refused: 0, failure: undefined };
    const first = rows[0]?.id ?? "";
    const trial = suspects.trialOf(org, first);
    const end = (row: OutboxRow, refusal?: HeraldError) => {
      outcome[refusal === undefined ? "sent" : "refused"]++;
      if (refusal !== undefined) onRefused(org, row.id, refusal);
      outcome.ended.push(
        refusal === undefined ? { row } : { row, problem: problemDocument(refusal, row.id, problemForm) },
      );
    };
    await use.know(org);
    for (const group of groupsOf(rows, trial)) {
      const tried = await sendGroup(group);
      const isGivenUp = ({ row }: Tried) =>
        trial === "last" && row.id === first && tried.some(({ error }) => error === undefined);
      for (const one of tried) {
        const { row, error } = one;
        if (error === undefined || !passing.has(error.code)) end(row, error);
        else if (error.code === "internal" && isGivenUp(one)) end(row, new HeraldError("internal", givenUp));
        else {
          if (outcome.failure === undefined && error.code === "internal") suspects.note(org, row.id);
          outcome.failure ??= error; // those after the group wait
        }
      }
      if (outcome.failure !== undefined) return outcome;
    }
    suspects.clear(org);
    return outcome;
  };
}

/** Rows that are sent together; a suspect is so only with those behind it once it is to be given up. */
function* groupsOf(rows: readonly OutboxRow[], trial: Trial): Generator<OutboxRow[]> {
  let group: OutboxRow[] = [];
  let weight = 0;
  for (const [index, row] of rows.entries()) {
    const characters = row.request?.length ?? 0;
    const isFull = group.length === atOnce.items || weight + characters > atOnce.weight;
    const isEnd = index === 1 && trial !== "usual" ? trial === "alone" : isFull;
    if (group.length > 0 && isEnd) {
      yield group;
      group = [];
      weight = 0;
    }
    group.push(row);
    weight += characters;
  }
  if (group.length > 0) yield group;
}

/** Creates the list of the first rows of organizations that failed for reasons that nobody foresaw. */
function createSuspects(elapsed: Clock) {
  const suspects = new Map<string, { rowId: string; tries: number; since: number }>();
  const find = (org: string, rowId: string) => {
    const suspect = suspects.get(org);
    return suspect?.rowId === rowId ? suspect : undefined;
  };

  return {
    trialOf(org: string, rowId: string): Trial {
      const suspect = find(org, rowId);
      if (suspect === undefined) return "usual";
      const isLast = suspect.tries >= triesBeforeLast && elapsed.now() - suspect.since >= suspectForMs;
      return isLast ? "last" : "alone";
    },
    note(org: string, rowId: string): void {
      const suspect = find(org, rowId) ?? { rowId, tries: 0, since: elapsed.now() };
      suspects.set(org, { ...suspect, tries: suspect.tries + 1 });
      forgetOldest(suspects, maxOrganizations);
    },
    clear: (org: string) => void suspects.delete(org),
  };
}
