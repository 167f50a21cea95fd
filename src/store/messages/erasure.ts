import { toSeconds } from "../../contract/identifiers.ts";
import { recallPayload, withoutParameters } from "../../contract/messages/changes.ts";
import { createId } from "../../lib/text/ids.ts";
import type { LogTransaction, WriteDependencies } from "../log/log-writer.ts";
import { isMessageOf, isOfConversation, isSystemMessage, systemKinds } from "../log/past.ts";
import type { Reader } from "../sql/driver.ts";
import { forgetAnswers } from "../webhooks/answers.ts";
import { blankEvents, blankMessages } from "./blanking.ts";
import { removeHidingsOf } from "./hidden-rows.ts";
import type { Erasure, ErasureReads, ErasureWrites, WrittenEvent } from "./ports.ts";
import { removeReactionsOf } from "./reactions.ts";

type WrittenRow = { offset: number; kind: string | null; bytes: number };
type MessageRow = { offset: number; id: string; cid: string; heard_in: string | null };
type SystemRow = { offset: number; id: string; payload: string };

// As no index leads to the events of a sender, pages hold those of everyone. SQLite reads no payload to learn its length.
const eventsOfPage = 5_000;
const readPage = `SELECT "offset", CASE WHEN sender = ? AND (${isMessageOf("event")} OR ${isSystemMessage("event")} OR kind = 'reaction') THEN kind END AS kind,
    OCTET_LENGTH(payload) AS bytes
  FROM event WHERE org = ? AND "offset" > ? AND "offset" <= ? ORDER BY "offset" LIMIT ${eventsOfPage}`;

/** Creates the reads of an erasure. */
export function createErasureReads({ reader }: { reader: Reader }): ErasureReads {
  return {
    async written({ org, uid, after, upTo }) {
      const rows = await reader.allOf<WrittenRow>(org, readPage, uid, org, after, upTo);
      const last = rows.at(-1);
      if (last === undefined) return undefined;
      const events = rows.flatMap(({ offset, kind, bytes }) =>
        kind === null || Number(bytes) === 0
          ? []
          : [
              {
                offset: Number(offset),
                is: writtenIs(kind),
                bytes: Number(bytes),
              },
            ],
      );
      return { events, last: Number(last.offset) };
    },
  };
}

/** Creates the writes of an erasure. */
export function createErasureWrites({ driver, writer }: WriteDependencies): ErasureWrites {
  const { dialect } = driver;
  const ofOffsets = `"offset" IN (${dialect.givenNumbers})`;
  const findMessages = `SELECT e."offset", e.id, e.cid, c.id AS heard_in FROM event e
    LEFT JOIN conversation c ON c.org = e.org AND c.id = e.cid AND ${isOfConversation}
    WHERE e.org = ? AND e.sender = ? AND ${isMessageOf("e")} AND e.${ofOffsets} AND OCTET_LENGTH(e.payload) > 0`;
  const findSystem = `SELECT "offset", id, payload FROM event
    WHERE org = ? AND sender = ? AND ${isSystemMessage("event")} AND ${ofOffsets}`;

  /** Takes messages out of the store, and tells it to the conversations that still show them. */
  async function eraseMessages(
    transaction: LogTransaction,
    { org, uid, at, keyId }: Erasure,
    offsets: readonly number[],
  ): Promise<void> {
    if (offsets.length === 0) return;
    const found = await transaction.sql.all<MessageRow>(findMessages, org, uid, JSON.stringify(offsets));
    await blankMessages(transaction, { org, offsets: found.map(({ offset }) => Number(offset)), at });
    const heard = found.filter(({ heard_in }) => heard_in !== null);
    for (const [cid, messages] of Map.groupBy(heard, (message) => message.cid)) {
      const payload = recallPayload({ ids: messages.map(({ id }) => id), cid, from: uid, t: toSeconds(at) });
      const event = { org, kind: "recall" as const, id: createId(at), cid, sender: uid, uids: undefined };
      transaction.emit({ ...event, payload, keyId, createdAt: at });
    }
  }

  /** Empties the custom parameters of system messages, which is all that they say. */
  async function eraseParameters(
    { sql, recount }: LogTransaction,
    { org, uid }: Erasure,
    offsets: readonly number[],
  ): Promise<void> {
    if (offsets.length === 0) return;
    const found = await sql.all<SystemRow>(findSystem, org, uid, JSON.stringify(offsets));
    const rows = found.flatMap(({ offset, payload: before }) => {
      const payload = withoutParameters(before);
      if (payload === before) return [];
      recount(org, Number(offset), Buffer.byteLength(payload) - Buffer.byteLength(before));
      return [{ org, offset: Number(offset), payload }];
    });
    await sql.rows.update("event", ["org", "offset"], rows);
    await forgetAnswers(sql, { org, eventIds: found.map(({ id }) => id) });
    sql.forget();
  }

  return {
    begin: (org, uid) =>
      writer.change(org, false, async ({ sql }) => {
        const forgetName = `UPDATE "user" SET name = NULL WHERE org = ? AND id = ? AND deleted_at IS NOT NULL`;
        const isKnown = (await sql.run(forgetName, org, uid)) > 0;
        sql.forget();
        return isKnown;
      }),
    erase: (erasure, events) =>
      writer.bulk(erasure.org, undefined, async (transaction) => {
        await eraseMessages(transaction, erasure, offsetsOf(events, "message"));
        await eraseParameters(transaction, erasure, offsetsOf(events, "system"));
        await blankEvents(transaction, { org: erasure.org, offsets: offsetsOf(events, "reaction") });
      }),
    eraseHidings: (erasure, limit) =>
      writer.bulk(erasure.org, 0, (transaction) => removeHidingsOf(transaction, erasure, limit)),
    eraseReactions: (erasure, limit) =>
      writer.bulk(erasure.org, 0, (transaction) => removeReactionsOf(transaction, erasure, limit)),
  };
}

function writtenIs(kind: string): WrittenEvent["is"] {
  if (kind === "reaction") return kind;
  return systemKinds.includes(kind) ? "system" : "message";
}

function offsetsOf(events: readonly WrittenEvent[], kind: WrittenEvent["is"]): number[] {
  return events.filter(({ is }) => is === kind).map(({ offset }) => offset);
}
