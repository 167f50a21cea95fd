import { toSeconds } from "../../contract/identifiers.ts";
import { hidingPayload } from "../../contract/messages/changes.ts";
import { rowsOfStatement } from "../../lib/queues/steps.ts";
import type { LogTransaction, LogWriter, Looking } from "../log/log-writer.ts";
import type { Reader, Row } from "../sql/driver.ts";
import { isRefused, planRecall, type Refused, refused } from "./changes.ts";
import type { HiddenReads, Hidings, NewRecall } from "./ports.ts";

type Place = { id: string; offset: number };
type Plan = { outcome: "changed" | "unchanged"; cid: string; places: Place[] };

/** Creates the hiding of messages. Each is decided and made under the lock of its organization. */
export function createHidings({ writer }: { writer: LogWriter }): Hidings {
  return {
    hide: (hiding) =>
      writer.change(hiding.org, refused("organization"), async (transaction) => {
        const plan = await planHiding(transaction.sql, hiding);
        if (isRefused(plan)) return plan;
        if (plan.outcome === "changed") await makeHiding(transaction, hiding, plan);
        return { outcome: plan.outcome, cid: plan.cid };
      }),
    check: (hiding) =>
      writer.check(hiding.org, async (sql, head) => {
        const plan = head === undefined ? refused("organization") : await planHiding(sql, hiding);
        return isRefused(plan) ? plan : { outcome: plan.outcome, cid: plan.cid };
      }),
  };
}

/** Finds what the user has not hidden yet. What could be taken back can be hidden. */
async function planHiding(sql: Looking, hiding: NewRecall): Promise<Plan | Refused> {
  const plan = await planRecall(sql, hiding);
  if (isRefused(plan)) return plan;
  const { org, sender: uid, cid } = hiding;
  const keys = plan.places.map(({ offset }) => ({ org, uid, cid, offset }));
  const found = await sql.rows.find<Row & { offset: number }>("hidden_message", ["offset"], keys);
  const hidden = new Set(found.map(({ offset }) => Number(offset)));
  const places = plan.places.filter(({ offset }) => !hidden.has(offset));
  return { outcome: places.length === 0 ? "unchanged" : "changed", cid, places };
}

async function makeHiding(
  { sql, emit }: LogTransaction,
  { org, sender: uid, eventId, at, keyId }: NewRecall,
  { cid, places }: Plan,
): Promise<void> {
  await sql.rows.insert(
    "hidden_message",
    places.map(({ id, offset }) => ({ org, uid, cid, offset, id })),
  );
  const payload = hidingPayload({ ids: places.map(({ id }) => id), cid, from: uid, t: toSeconds(at) });
  emit({ org, kind: "hide", id: eventId, cid, sender: uid, uids: [uid], payload, keyId, createdAt: at });
}

/** Creates the reads of what users have hidden. */
export function createHiddenReads({ reader }: { reader: Reader }): HiddenReads {
  const find = `SELECT id FROM hidden_message WHERE id IN (${reader.dialect.givenTexts}) AND uid = ? AND org = ?`;
  return {
    async hiddenAmong(org, uid, ids) {
      const hidden = new Set<string>();
      for (let from = 0; from < ids.length; from += rowsOfStatement) {
        const asked = JSON.stringify(ids.slice(from, from + rowsOfStatement));
        for (const { id } of await reader.allOf<{ id: string }>(org, find, asked, uid, org)) hidden.add(id);
      }
      return hidden;
    },
  };
}
