import type { Reader, Row } from "../sql/driver.ts";
import { type DeliveryRow, decodePlays, deliveryColumns, inSpan, noConversation, playsAt, spanAt } from "./delivery.ts";
import { type RecipientReads, stays } from "./ports.ts";
import { receiptIdOf } from "./receipts.ts";

type ReceiptRow = Row & { id: string; plays: string };

// What was imported was sent to nobody. Each arm reads at most a page by its primary key, so that a page costs a page, however many
// took part.
const findStays = `SELECT uid, log_start, log_end FROM (
    SELECT uid, log_start, CAST(NULL AS BIGINT) AS log_end FROM participant
    WHERE org = ? AND cid = ? AND uid >= ? AND (uid > ? OR log_start > ?) ORDER BY uid LIMIT ?) AS present
  UNION ALL SELECT uid, log_start, log_end FROM (
    SELECT uid, log_start, log_end FROM former_participant
    WHERE org = ? AND cid = ? AND (uid, log_start) > (?, ?) AND log_start >= 0 ORDER BY uid, log_start LIMIT ?) AS former
  ORDER BY uid, log_start LIMIT ?`;

const findRowsOf = (kind: "delivery" | "away") => `SELECT id FROM delivery WHERE kind = '${kind}' AND ${inSpan}`;

/** Creates the reads of the recipients of sent messages. */
export function createRecipientReads({ reader }: { reader: Reader }): RecipientReads {
  const { givenTexts } = reader.dialect;
  const findRows = `SELECT ${deliveryColumns} FROM delivery WHERE id IN (${givenTexts}) AND org = ?`;
  const findReceipts = `SELECT id, plays FROM delivery WHERE id IN (${givenTexts}) AND org = ?`;

  return {
    stays(org, cid, { uid, after } = { uid: "", after: 0 }, limit) {
      const place = [org, cid, uid, uid, after, limit];
      return stays.readAll(reader.allOf(org, findStays, ...place, org, cid, uid, after, limit, limit));
    },
    async deliveryIds(org, cid = noConversation, offset, kind = "delivery") {
      const found = await reader.allOf<{ id: string }>(org, findRowsOf(kind), ...spanAt(org, cid, kind, offset));
      return found.map(({ id }) => id);
    },
    async deliveries(org, ids, offset) {
      const rows = await reader.allOf<DeliveryRow>(org, findRows, JSON.stringify(ids), org);
      return await playsAt(reader, org, rows, offset);
    },
    async acknowledgedAt(event, uids) {
      const uidOf = new Map(uids.map((uid) => [receiptIdOf(event, uid), uid]));
      const ids = JSON.stringify([...uidOf.keys()]);
      const rows = await reader.allOf<ReceiptRow>(event.org, findReceipts, ids, event.org);
      const times = new Map<string, number>();
      for (const { id, plays } of rows) {
        const uid = uidOf.get(id);
        const [play] = decodePlays(plays);
        if (uid !== undefined && play !== undefined) times.set(uid, play[1]);
      }
      return times;
    },
  };
}
