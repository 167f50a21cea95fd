import type { Migration } from "../migrations.ts";
import type { MigrationSession, Row } from "../sql/driver.ts";

/** What a serving node does with its tables. */
const ofServing = ["SELECT", "INSERT", "UPDATE", "DELETE"] as const;

/** Written by migrations only, to record their progress. */
const migrationTables = ["schema_version", "schema_step"] as const;

const findAny = `SELECT 1 AS one FROM json_array_elements_text(CAST(CAST(? AS text) AS json)) AS privilege (value)
  WHERE has_table_privilege(CAST(? AS text), CAST(? AS text), privilege.value) LIMIT 1`;
const findSchema = `SELECT quote_ident(current_schema()) AS name, quote_ident(CAST(? AS text)) AS role,
  CAST(has_schema_privilege(CAST(? AS text), current_schema(), 'USAGE') AS int) AS is_usable`;

/**
 * Lets a role that owns nothing run the server: grants access to the rows of the migrations' tables, and read access to the
 * migrations' progress. Tables on which the role has any privilege are left alone, as an operator may have revoked the
 * rest.
 */
export async function grantServing(
  session: MigrationSession,
  role: string,
  known: readonly Migration[],
): Promise<void> {
  await session.transaction(async (sql) => {
    const [schema] = await sql.all<Row & { name: string; role: string; is_usable: number }>(findSchema, role, role);
    if (schema === undefined) return;
    if (schema.is_usable !== 1) await sql.run(`GRANT USAGE ON SCHEMA ${schema.name} TO ${schema.role}`);
    const grant = async (table: string, privileges: readonly string[]) => {
      if ((await sql.all(findAny, JSON.stringify(privileges), role, table)).length > 0) return;
      await sql.run(`GRANT ${privileges.join(", ")} ON ${table} TO ${schema.role}`);
    };
    for (const table of tablesOf(known)) await grant(table, ofServing);
    for (const table of migrationTables) await grant(table, ["SELECT"]);
  });
}

function tablesOf(known: readonly Migration[]): string[] {
  const statements = known.flatMap(({ steps }) =>
    steps.flatMap((step) => ("statements" in step ? step.statements : [])),
  );
  return statements.flatMap((statement) => /^CREATE TABLE (\S+) \(/m.exec(statement)?.[1] ?? []);
}
