import { isAmongSorted, sortInTurns } from "../../lib/event-loop/sort-in-turns.ts";
import { type ThreadScheduler, threadSliceUs } from "../../lib/event-loop/thread-scheduler.ts";
import { rowsOfStep } from "../../lib/queues/steps.ts";
import { createId } from "../../lib/text/ids.ts";
import { requireKey } from "../keys/keys.ts";
import { emitMembership, type MembershipOf, recordMembership } from "../log/control-events.ts";
import type { LogTransaction, WriteDependencies } from "../log/log-writer.ts";
import type { ConversationWrites, EntityReads, KeyProof, Put } from "../ports.ts";
import type { Reader, SqlValue } from "../sql/driver.ts";
import { inSteps } from "../sql/steps.ts";
import { createEntityReads, type EntityRow, toEntity } from "./entity.ts";
import { keepFormer } from "./former-participants.ts";
import { leaveToRemoval } from "./removals.ts";
import { type Start, startIn } from "./starts.ts";
import { ensureUsers } from "./users.ts";

const find = "SELECT id, name, created_at FROM conversation WHERE org = ? AND id = ?";
const findOtherCall = `SELECT id FROM event
  WHERE org = ? AND cid = ? AND "offset" > ? AND kind = 'membership' AND fingerprint <> ? LIMIT 1`;

type Dependencies = WriteDependencies & { thread: ThreadScheduler };
type Name = string | null | undefined;
/** A change of participants, and the key of its call. */
type Replacement = MembershipOf & { by: KeyProof | undefined };
/** The uids after `after`, up to and including `upTo`. */
type UidRange = { after: string; upTo: string };

type Left = { uid: string } & Start;

type Change = {
  uids?: string[];
  leaving?: UidRange | undefined;
  kept?: string[];
  /** Whether nobody will ask who took part, as the conversation is being deleted. */
  isForgotten?: boolean;
};

type Begun = { put: Put; head: number; isDone: boolean };

/**
 * Creates the writes of conversations. A recreated conversation begins with an empty history. A set of participants too
 * large for one transaction is replaced in steps: first the new ones are added, then those not named are removed. Every
 * step has its event.
 */
export function createConversationWrites({ driver, writer, thread }: Dependencies): ConversationWrites {
  const { participantsOfStep: rows } = driver.dialect;

  /**
   * Creates or renames the conversation, and replaces its participants if one step suffices. Otherwise emits an empty
   * change that marks the beginning.
   */
  async function begin(of: Replacement, name: Name, wanted: string[] | undefined): Promise<Begun | undefined> {
    const { org, cid, now } = of;
    return await writer.change(org, undefined, async (transaction, head) => {
      const { sql } = transaction;
      const [row] = await sql.all<EntityRow>(find, org, cid);
      if (row === undefined) {
        const started = { log_start: head, created_at: now, updated_at: now };
        await sql.rows.insert("conversation", [{ org, id: cid, name: name ?? null, ...started }]);
      } else if (name !== undefined) {
        await sql.run("UPDATE conversation SET name = ? WHERE org = ? AND id = ?", name, org, cid);
      }
      const entity = toEntity(row ?? { id: cid, name: null, created_at: now });
      const put: Put = {
        entity: { ...entity, name: name === undefined ? entity.name : name },
        isNew: row === undefined,
      };
      const isDone = wanted === undefined || (await replaceAtOnce(transaction, of, wanted));
      await requireKey(sql, of.by);
      return { put, head, isDone };
    });
  }

  async function replaceAtOnce(transaction: LogTransaction, of: MembershipOf, wanted: string[]): Promise<boolean> {
    const before = wanted.length > rowsOfStep ? [] : await pageOf(transaction, of, "", rowsOfStep + 1);
    if (wanted.length > rowsOfStep || before.length > rowsOfStep) {
      emitMembership(transaction, of, { added: [], removed: [] });
      return false;
    }
    await changeParticipants(transaction, of, {
      uids: wanted,
      leaving: rangeOf("", before),
      kept: before.filter((uid) => isAmongSorted(wanted, uid)),
    });
    return true;
  }

  /**
   * Replaces the participants after `begin`, unless another call begins to or the conversation is deleted; then that
   * call wins.
   */
  async function replaceInSteps(
    of: Replacement,
    wanted: string[], // sorted, so that neighbours share database pages
    { put: { isNew }, head: beganAt }: Begun,
  ): Promise<void> {
    const { org, cid, call = "" } = of;
    let lookedAt = beganAt;

    /** Runs a step, unless the set belongs to another call by now. */
    async function step(work: (transaction: LogTransaction) => Promise<void>): Promise<boolean> {
      return await writer.change(org, false, async (transaction, head) => {
        const { sql } = transaction;
        if ((await sql.all(find, org, cid)).length === 0) return false;
        if ((await sql.all(findOtherCall, org, cid, lookedAt, call)).length > 0) return false;
        lookedAt = head;
        await work(transaction);
        await requireKey(sql, of.by);
        return true;
      });
    }

    for (let from = 0; from < wanted.length; from += rows) {
      const uids = wanted.slice(from, from + rows);
      if (!(await step((transaction) => changeParticipants(transaction, of, { uids })))) return;
    }
    if (isNew) return;
    for (let after: string | undefined = ""; after !== undefined; ) {
      const from: string = after;
      const isOn = await step(async (transaction) => {
        const uids = await pageOf(transaction, of, from, rows);
        const kept = uids.filter((uid) => isAmongSorted(wanted, uid));
        await changeParticipants(transaction, of, { leaving: rangeOf(from, uids), kept });
        after = uids.length < rows ? undefined : uids.at(-1);
      });
      if (!isOn) return;
    }
  }

  return {
    async put(org, cid, { name, participants }, now, by) {
      const of = { org, cid, now, call: createId(), by };
      const wanted =
        participants && (await sortInTurns(participants, async () => await thread.turn(org, threadSliceUs)));
      const begun = await begin(of, name, wanted);
      if (begun !== undefined && wanted !== undefined && !begun.isDone) await replaceInSteps(of, wanted, begun);
      return begun?.put;
    },
    async remove(org, cid, now) {
      const of = { org, cid, now, call: createId() };
      let hasBegun = false;
      return await inSteps(() =>
        writer.change(org, hasBegun, async (transaction, upTo) => {
          const { sql } = transaction;
          if ((await sql.all(find, org, cid)).length === 0) return hasBegun;
          hasBegun = true;
          const uids = await pageOf(transaction, of, "", rowsOfStep + 1);
          const isLast = uids.length <= rowsOfStep;
          if (isLast) await leaveToRemoval(sql, { org, cid, upTo, now });
          const leaving = rangeOf("", isLast ? uids : uids.slice(0, rows));
          await changeParticipants(transaction, of, { leaving, isForgotten: true });
          if (!isLast) return "more";
          await sql.run("DELETE FROM conversation WHERE org = ? AND id = ?", org, cid);
          return true;
        }),
      );
    },
  };
}

/** The range from `after` to the last of the uids that follow it; `undefined` if there are none. */
function rangeOf(after: string, uids: string[]): UidRange | undefined {
  const upTo = uids.at(-1);
  return upTo === undefined ? undefined : { after, upTo };
}

async function uidsOf({ sql }: LogTransaction, text: string, ...values: SqlValue[]): Promise<string[]> {
  return (await sql.all<{ uid: string }>(text, ...values)).map(({ uid }) => uid);
}

/** The first participants after `after`, in order. */
async function pageOf(transaction: LogTransaction, { org, cid }: MembershipOf, after: string, limit: number) {
  const page = "SELECT uid FROM participant WHERE org = ? AND cid = ? AND uid > ? ORDER BY uid LIMIT ?";
  return await uidsOf(transaction, page, org, cid, after, limit);
}

/**
 * Removes the participants in a range except `kept`, adds those of `uids` who are missing, and emits one event. The
 * transaction has locked the organization.
 */
async function changeParticipants(
  transaction: LogTransaction,
  of: MembershipOf,
  { uids = [], leaving, kept = [], isForgotten = false }: Change,
): Promise<void> {
  const { sql } = transaction;
  const { org, cid, now } = of;
  const { givenTexts } = sql.dialect;
  const join = `INSERT INTO participant (org, cid, uid, created_at, log_start, past_start)
    SELECT ?, ?, uid.value, CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT) FROM (${givenTexts}) AS uid WHERE true
    ON CONFLICT DO NOTHING RETURNING uid`;
  // Deletes by range, which uses the index. With `uid IN (…)`, PostgreSQL may scan all participants and compare every
  // pair.
  const leave = `DELETE FROM participant
    WHERE org = ? AND cid = ? AND uid > ? AND uid <= ? AND uid NOT IN (${givenTexts}) RETURNING uid, log_start, past_start`;
  const left =
    leaving === undefined
      ? []
      : await sql.all<Left>(leave, org, cid, leaving.after, leaving.upTo, JSON.stringify(kept));
  const former = isForgotten ? [] : left.map((row) => ({ ...row, cid }));
  keepFormer(transaction, of, former);
  const removed = left.map(({ uid }) => uid);
  const { log_start, past_start } = startIn(transaction, org);
  const values = [org, cid, now, log_start, past_start, JSON.stringify(uids)];
  const added = uids.length === 0 ? [] : await uidsOf(transaction, join, ...values);
  await ensureUsers(transaction, { org, uids: added, now });
  await recordMembership(transaction, of, { added, removed });
}

/** Creates the reads of conversations. */
export function createConversationReads({ reader }: { reader: Reader }): EntityReads {
  return createEntityReads(reader, { table: "conversation", columns: "id, name, created_at", isLive: "true" });
}
