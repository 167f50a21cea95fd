import type { Driver, Reader } from "../sql/driver.ts";
import { type PersonSessionReads, type PersonSessionWrites, personSessions } from "./ports.ts";

const select = `SELECT ${personSessions.columns} FROM person_session`;
const endOldest = `DELETE FROM person_session WHERE subject = ? AND id NOT IN (
    SELECT id FROM person_session WHERE subject = ? ORDER BY id DESC LIMIT ?
  )`;

/** Creates the reads of the sessions of people. */
export function createPersonSessionReads({ reader }: { reader: Reader }): PersonSessionReads {
  const findAll = `${select} WHERE digest IN (${reader.dialect.givenTexts}) AND expires_at > ?`;
  return {
    find: (digests, now) => personSessions.readAll(reader.all(findAll, JSON.stringify(digests), now)),
    get: (id, now) => personSessions.readFirst(reader.all(`${select} WHERE id = ? AND expires_at > ?`, id, now)),
    list: ({ after = "", limit }, now) =>
      personSessions.readAll(
        reader.all(`${select} WHERE id > ? AND expires_at > ? ORDER BY id LIMIT ?`, after, now, limit),
      ),
  };
}

/** Creates the writes of the sessions of people. */
export function createPersonSessionWrites({ driver }: { driver: Driver }): PersonSessionWrites {
  return {
    create: (session, most) =>
      driver.transaction(async (sql) => {
        await sql.rows.insert("person_session", [personSessions.write(session)]);
        await sql.run(endOldest, session.subject, session.subject, most);
      }),
    remove: (id) =>
      driver.transaction(async (sql) => (await sql.run("DELETE FROM person_session WHERE id = ?", id)) > 0),
  };
}
