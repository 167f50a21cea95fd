import { Database } from "bun:sqlite";

/** A message as the servers of one's own take it. */
export type Message = { from: string; cid: string; body: string };

/** Where they store messages, in the SQL of SQLite and of PostgreSQL. */
export const messageTable =
  "CREATE TABLE message (id TEXT PRIMARY KEY, cid TEXT NOT NULL, sender TEXT NOT NULL, body TEXT NOT NULL, at BIGINT NOT NULL)";

/** Opens a new SQLite database; the function that it returns stores a message, flushed, in a transaction of its own. */
export function openFlushedMessages(file: string): (message: Message) => void {
  const database = new Database(file, { create: true });
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = FULL");
  database.run(messageTable);
  const insert = database.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)");
  return ({ cid, from, body }) => void insert.run(crypto.randomUUID(), cid, from, body, Date.now());
}
