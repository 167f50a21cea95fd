import { Database } from "bun:sqlite";
import { join } from "node:path";
import { SQL } from "bun";

type Rows = (query: string) => Promise<Record<string, unknown>[]> | Record<string, unknown>[];

/** The columns of a database that hold a text, as `table.column`: of every table there is, whatever it is for. */
async function columnsOf(tables: string[], rows: Rows, text: string): Promise<string[]> {
  const found = new Set<string>();
  for (const table of tables)
    for (const row of await rows(`SELECT * FROM "${table}"`))
      for (const [column, value] of Object.entries(row)) {
        const shown = value instanceof Uint8Array ? Buffer.from(value).toString() : JSON.stringify(value);
        if (shown?.includes(text)) found.add(`${table}.${column}`);
      }
  return [...found].sort();
}

/** The columns of a node's embedded database that hold a text. */
export async function columnsOfFile(dataDir: string, text: string): Promise<string[]> {
  using database = new Database(join(dataDir, "herald.db"), { readonly: true });
  const rows: Rows = (query) => database.query<Record<string, unknown>, []>(query).all();
  const tables = await rows("SELECT name FROM sqlite_schema WHERE type = 'table'");
  return await columnsOf(
    tables.map(({ name }) => String(name)),
    rows,
    text,
  );
}

/** The columns of a PostgreSQL database that hold a text, whatever organization has it. */
export async function columnsOfPostgres(url: string, text: string): Promise<string[]> {
  await using sql = new SQL(url, { max: 1 });
  const rows: Rows = (query) => sql.unsafe(query);
  // What the policies of the tables read.
  await rows("SELECT set_config('herald.orgs', (SELECT CAST(json_agg(id) AS text) FROM organization), false)");
  const tables = await rows("SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()");
  return await columnsOf(
    tables.map(({ name }) => String(name)),
    rows,
    text,
  );
}
