import { HeraldError, toHeraldError } from "../../contract/errors/errors.ts";
import { problemDocument } from "../../contract/errors/problem.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import { createQueue } from "../../lib/queues/queue.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { OutboxEnd, OutboxRow } from "../../store/outbox/ports.ts";
import type { NewSend, SendLog } from "../../store/ports.ts";
import { type Caller, unrestricted } from "../keys/permissions.ts";
import type { OrganizationUse, TellStored } from "../limits/organization-use.ts";
import { createBatchLineReader } from "../messages/batch-lines.ts";
import { appendAdmitted, toMessageSend } from "../messages/messages.ts";
import { toSystemSend } from "../messages/system-messages.ts";

/** What became of some rows, and the error that keeps the others waiting, if there is one. */
export type OutboxOutcome = { ended: OutboxEnd[]; sent: number; refused: number; failure: HeraldError | undefined };

/** Sends rows of an organization in their order; the first that cannot be sent now ends it. Never rejects. */
export type OutboxSends = (org: string, rows: readonly OutboxRow[]) => Promise<OutboxOutcome>;

type Dependencies = {
  sends: SendLog;
  use: Pick<OrganizationUse, "know" | "admitSend">;
  limits: PayloadLimits;
  clock: Clock;
  onError(error: unknown): void;
};

// As much as a commit takes of one organization, so that the rows after a failed commit wait for those in it.
const atOnce = { items: 64, weight: 64 * 1024 };
// These say nothing about the row: it is sent again, with its id.
const passing = new Set(["unavailable", "storage_full", "internal", "rate_limited"]);
const caller: Caller = { keyId: "outbox", rights: unrestricted, secretExpiresAt: undefined };

type Prepared = { row: OutboxRow; send: NewSend } | { row: OutboxRow; refusal: HeraldError };

/** Creates the sending of rows. The id of a row is that of its send, so a row that is sent again is a retry. */
export function createOutboxSends({ sends, use, limits, clock, onError }: Dependencies): OutboxSends {
  const reader = createBatchLineReader({ limits, longLines: createQueue(() => new HeraldError("unavailable")) });

  async function prepare(row: OutboxRow): Promise<Prepared> {
    try {
      const { kind, request } = await reader.read(row.request, caller);
      if (kind === "message")
        return {
          row,
          send: toMessageSend(caller, { ...request, message: { id: row.id, ...request.message } }, clock.now()),
        };
      const messageSystem = { id: row.id, ...request.messageSystem };
      return { row, send: await toSystemSend(caller, { ...request, messageSystem }, clock.now()) };
    } catch (thrown) {
      if (!(thrown instanceof HeraldError)) onError(thrown);
      return { row, refusal: toHeraldError(thrown) };
    }
  }

  async function append(send: NewSend, tell: TellStored): Promise<HeraldError | undefined> {
    try {
      await appendAdmitted(sends, send, tell);
      return undefined;
    } catch (thrown) {
      if (!(thrown instanceof HeraldError)) onError(thrown);
      return toHeraldError(thrown);
    }
  }

  return async (org, rows) => {
    const outcome: OutboxOutcome = { ended: [], sent: 0, refused: 0, failure: undefined };
    await use.know(org);
    for (const group of groupsOf(rows)) {
      const begun: { row: OutboxRow; result: Promise<HeraldError | undefined> }[] = [];
      const prepared = await Promise.all(group.map(prepare));
      for (const one of prepared) {
        const { row } = one;
        if ("refusal" in one) {
          begun.push({ row, result: Promise.resolve(one.refusal) });
          continue;
        }
        try {
          begun.push({ row, result: append(one.send, await use.admitSend(one.send)) });
        } catch (thrown) {
          const error = toHeraldError(thrown);
          if (passing.has(error.code))
            outcome.failure = error; // this one and those after it wait
          else begun.push({ row, result: Promise.resolve(error) });
        }
        if (outcome.failure !== undefined) break;
      }
      for (const { row, result } of begun) {
        const error = await result;
        if (error === undefined) {
          outcome.sent++;
          outcome.ended.push({ row });
        } else if (passing.has(error.code)) outcome.failure = error;
        else {
          outcome.refused++;
          outcome.ended.push({ row, problem: problemDocument(error, row.id) });
        }
      }
      if (outcome.failure !== undefined) break;
    }
    return outcome;
  };
}

function* groupsOf(rows: readonly OutboxRow[]): Generator<OutboxRow[]> {
  let group: OutboxRow[] = [];
  let weight = 0;
  for (const row of rows) {
    if (group.length > 0 && (group.length === atOnce.items || weight + row.request.length > atOnce.weight)) {
      yield group;
      group = [];
      weight = 0;
    }
    group.push(row);
    weight += row.request.length;
  }
  if (group.length > 0) yield group;
}
