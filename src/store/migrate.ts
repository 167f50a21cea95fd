import type { Driver } from "./driver.ts";
import logAndDirectory from "./migrations/0001-log-and-directory.sql" with { type: "text" };
import nodes from "./migrations/0002-nodes.sql" with { type: "text" };
import apiKeys from "./migrations/0003-api-keys.sql" with { type: "text" };
import organizationTokens from "./migrations/0004-organization-tokens.sql" with { type: "text" };
import rowSecurity from "./migrations/0005-row-security.sql" with { type: "text" };
import audit from "./migrations/0006-audit.sql" with { type: "text" };
import retention from "./migrations/0007-retention.sql" with { type: "text" };
import delivery from "./migrations/0008-delivery.sql" with { type: "text" };

const migrations = [logAndDirectory, nodes, apiKeys, organizationTokens, rowSecurity, audit, retention, delivery];

const rowSecurityOnly = /\b(ROW LEVEL SECURITY|CREATE POLICY)\b/;

/**
 * Brings the schema up to date, in one transaction. Returns the version before and after; the same twice when there was
 * nothing to do. Rejects when the database was made by a newer Herald. Tests stop at an earlier version, `to`.
 */
export async function migrateStore(driver: Driver, to = migrations.length): Promise<{ from: number; to: number }> {
  return await driver.transaction(async (sql) => {
    if (driver.dialect.lockMigrations !== undefined) await sql.all(driver.dialect.lockMigrations);
    await sql.run("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)");
    const rows = await sql.all<{ version: number }>("SELECT version FROM schema_version");
    const from = Number(rows[0]?.version ?? 0);
    if (from > migrations.length) {
      throw new Error(
        `the database has schema version ${from}, this Herald knows ${migrations.length}: start the newer Herald that made it`,
      );
    }
    for (const migration of migrations.slice(from, to)) {
      const text = migration.replaceAll(/\bTEXT\b/g, driver.dialect.text);
      for (const statement of text.split(/;\s*\n/).filter((part) => part.trim() !== ""))
        if (driver.dialect.hasRowSecurity || !rowSecurityOnly.test(statement)) await sql.run(statement);
    }
    if (rows.length === 0) await sql.run("INSERT INTO schema_version (version) VALUES (?)", to);
    else await sql.run("UPDATE schema_version SET version = ?", to);
    for (const statement of driver.dialect.statistics) await sql.run(statement);
    return { from, to };
  });
}
