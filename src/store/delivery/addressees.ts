import { textsIn } from "../../lib/json/json-values.ts";
import { bytesOfStep, rowsOfStatement } from "../../lib/queues/steps.ts";
import { placesOf } from "../inbox/places.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Driver, Reader, Row } from "../sql/driver.ts";
import type { AddresseeReads, AddresseeWrites } from "./ports.ts";

type Progress = Row & { up_to: number; users: number };
type EventRow = Row & { offset: number; uids: string | null; created_at: number };

/** The SQL of the system messages to users or to everyone of an organization, after an offset. Placeholders: `org`, and those of `after`. */
export const addressedAfter = (dialect: Dialect, after = "?") =>
  `FROM event${dialect.indexedBy("event_addressed")} WHERE org = ? AND kind = 'system' AND cid IS NULL AND "offset" > ${after}`;

const begin = "INSERT INTO addressees (org, up_to, users) VALUES (?, 0, 0) ON CONFLICT (org) DO NOTHING";

/** Creates the writes of addressees. They run beside sends, with which they share no rows. */
export function createAddresseeWrites({ driver }: { driver: Driver }): AddresseeWrites {
  const { dialect } = driver;
  const lock = `SELECT up_to, users FROM addressees WHERE org = ?${dialect.forUpdate}`;
  // One message may name thousands, of which a part has room for few.
  const findEvents = `SELECT "offset", uids, created_at FROM (
      SELECT "offset", uids, created_at, SUM(COALESCE(OCTET_LENGTH(uids), 0)) OVER (ORDER BY "offset") - COALESCE(OCTET_LENGTH(uids), 0) AS before
      FROM (SELECT "offset", uids, created_at ${addressedAfter(dialect)} ORDER BY "offset" LIMIT ?) AS next) AS summed
    WHERE before < ${bytesOfStep} ORDER BY "offset"`;
  return {
    addSome: (org) =>
      driver.aside(
        async (sql) => {
          await sql.limitTo([org]);
          await sql.run(begin, org);
          const [progress] = await sql.all<Progress>(lock, org);
          if (progress === undefined) return false;
          const events = await sql.all<EventRow>(findEvents, org, Number(progress.up_to), rowsOfStatement);
          const { rows, upTo, users } = partOf(org, progress, events);
          if (events.length === 0) return false;
          await sql.rows.insert("addressee", rows, "skip");
          await sql.rows.update("addressees", ["org"], [{ org, up_to: upTo, users }]);
          return true;
        },
        { of: org },
      ),
  };
}

/** Up to 500 rows, from where the last part ended, and where this one ends. */
function partOf(org: string, progress: Progress, events: readonly EventRow[]) {
  const rows: Row[] = [];
  let [upTo, users] = [Number(progress.up_to), Number(progress.users)];
  for (const { offset, uids, created_at } of events) {
    const room = rowsOfStatement - rows.length;
    const places = uids === null ? [] : placesOf({ cid: undefined, uids: textsIn(uids) });
    const some = places.slice(users, users + room);
    rows.push(...some.map((place) => ({ org, place, offset, created_at })));
    users += some.length;
    if (users < places.length) break;
    [upTo, users] = [Number(offset), 0];
  }
  return { rows, upTo, users };
}

/** Creates the reads of addressees. */
export function createAddresseeReads({ reader }: { reader: Reader }): AddresseeReads {
  const findBehind = `SELECT o.id FROM organization o WHERE o.id > ? AND o.deleted_at IS NULL AND EXISTS (
      SELECT 1 FROM event e${reader.dialect.indexedBy("event_addressed")} WHERE e.org = o.id AND e.kind = 'system' AND e.cid IS NULL
        AND e."offset" > COALESCE((SELECT up_to FROM addressees a WHERE a.org = o.id), 0))
    ORDER BY o.id LIMIT ?`;
  return {
    async behind(after, limit) {
      const found = await reader.allOfEvery<{ id: string }>(findBehind, after, limit);
      return found.map(({ id }) => id);
    },
  };
}
