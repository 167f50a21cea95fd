import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lastOfOld, migrations } from "./migrations.ts";
import { faultsOf, type MigrationFile } from "./testing/expand-rules.ts";

const folder = join(import.meta.dir, "migrations");

const files = readdirSync(folder)
  .sort()
  .map((file): MigrationFile => ({ name: file.replace(/\.sql$/, ""), sql: readFileSync(join(folder, file), "utf8") }));

const expand = (statements: string) => ({ name: "0009-x", sql: `-- expand, 1.0.0\n${statements};\n` });

describe("the migrations", () => {
  test("are all listed, in the order of their numbers", () => {
    expect(migrations.map(({ name }) => name)).toEqual(files.map(({ name }) => name));
    expect(files.map(({ name }) => Number(name.slice(0, 4)))).toEqual(files.map((_, index) => index + 1));
  });

  test("expand so that the previous version continues to work, and contract a release later", () => {
    const newer = files.slice(lastOfOld);
    expect(newer.length).toBeGreaterThanOrEqual(5);
    for (const [index, file] of newer.entries()) expect(faultsOf(file, files.slice(0, lastOfOld + index))).toEqual([]);
  });
});

describe("the rules for migrations", () => {
  test.each([
    "ALTER TABLE event ADD COLUMN shade BIGINT",
    "ALTER TABLE event ADD COLUMN shade TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE event ADD COLUMN shade BIGINT DEFAULT 0 NOT NULL",
    "CREATE INDEX CONCURRENTLY event_by_shade ON event (shade)",
    '-- backfill: event (org, "offset")\nUPDATE event SET shade = 1 WHERE shade IS NULL',
    "CREATE TABLE shade (\n  id TEXT PRIMARY KEY\n);\nCREATE UNIQUE INDEX shade_by_x ON shade (id);\nINSERT INTO shade (id) VALUES ('a')",
    "CREATE TABLE shade (org TEXT NOT NULL);\nALTER TABLE shade ENABLE ROW LEVEL SECURITY;\nCREATE POLICY organization ON shade USING (true)",
    "CREATE POLICY p ON audit USING (\n  NULLIF(NULLIF(current_setting('herald.orgs', true), '') IS NULL OR true, false) IS NOT NULL\n);\nALTER TABLE audit ENABLE ROW LEVEL SECURITY;\nALTER TABLE audit FORCE ROW LEVEL SECURITY",
  ])("accept as an expand: %s", (statements) => {
    expect(faultsOf(expand(statements), [])).toEqual([]);
  });

  test.each([
    ["is no expansion", "DROP TABLE event"],
    ["is no expansion", "ALTER TABLE event DROP COLUMN payload"],
    ["is no expansion", "ALTER TABLE event RENAME COLUMN payload TO body"],
    ["is no expansion", "ALTER TABLE event RENAME TO events"],
    ["is no expansion", "ALTER TABLE event ALTER COLUMN payload TYPE BYTEA"],
    ["is no expansion", "ALTER TABLE event ALTER COLUMN cid SET NOT NULL"],
    ["is no expansion", "ALTER TABLE event ADD CONSTRAINT short CHECK (LENGTH(payload) < 9)"],
    ["is no expansion", "ALTER TABLE event ADD COLUMN shade BIGINT DEFAULT random()"],
    ["is no expansion", "ALTER TABLE event ADD COLUMN shade BIGINT, DROP COLUMN payload"],
    ["is no expansion", "ALTER TABLE event NO FORCE ROW LEVEL SECURITY"],
    ["is no expansion", "CREATE POLICY other ON event USING (true)"],
    ["is no expansion", "ALTER TABLE audit ENABLE ROW LEVEL SECURITY"],
    ["is no expansion", "DROP INDEX event_by_id"],
    ["asks for a value that nobody gives", "ALTER TABLE event ADD COLUMN shade BIGINT NOT NULL"],
    ["refuses rows that were taken", "CREATE UNIQUE INDEX CONCURRENTLY event_by_cid ON event (cid)"],
    ["keeps others from writing", "CREATE INDEX event_by_cid ON event (cid)"],
    ["changes all rows at once", "UPDATE event SET cid = 'c'"],
    ["changes all rows at once", "DELETE FROM event"],
    ["needs a WHERE", "-- backfill: event (id)\nUPDATE event SET cid = 'c'"],
    ["needs a WHERE", "-- backfill: event (id)\nUPDATE event SET cid = 'c' WHERE cid IS NULL OR cid = ''"],
    ["is no expansion", "CREATE TABLE shade (id TEXT);\nDROP TABLE shade"],
  ])("refuse in an expand what %s: %s", (fault, statements) => {
    expect(faultsOf(expand(statements), [])).toEqual([expect.stringContaining(fault)]);
  });

  test("accept in an expand that an index gives way to one that begins with its columns", () => {
    const before = [{ name: "0001-log", sql: "CREATE INDEX event_by_cid ON event (org, cid);\n" }];
    const build = (columns: string) => `CREATE INDEX CONCURRENTLY event_of_cid ON event (${columns})`;
    const drop = ";\nDROP INDEX event_by_cid";
    expect(faultsOf(expand(`${build("org, cid, kind")}${drop}`), before)).toEqual([]);
    for (const columns of ["org, kind", "org, cids", "org, cid) WHERE (kind = 'message'"])
      expect(faultsOf(expand(`${build(columns)}${drop}`), before)).toEqual([
        expect.stringContaining("is no expansion"),
      ]);
  });

  test("require a contract to end an expand of an earlier release", () => {
    const before = [expand("ALTER TABLE event ADD COLUMN shade BIGINT")];
    const contract = (release: string, ends: string) => ({
      name: "0010-y",
      sql: `-- contract, ${release}: ends ${ends}\nALTER TABLE event DROP COLUMN cid;\n`,
    });
    expect(faultsOf(contract("1.1.0", "0009-x"), before)).toEqual([]);
    expect(faultsOf(contract("1.0.0", "0009-x"), before)).toEqual(["0010-y: comes no release later than 0009-x"]);
    expect(faultsOf(contract("1.1.0", "0008-delivery"), before)).toEqual([
      "0010-y: there is no expand 0008-delivery before it",
    ]);
    expect(faultsOf({ name: "0010-y", sql: "DROP TABLE event;\n" }, before)).toHaveLength(1);
  });
});
