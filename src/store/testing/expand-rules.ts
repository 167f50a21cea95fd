import { type Migration, migrationOf, type Step } from "../migrations.ts";

const header = /^-- (?:expand, (\d+\.\d+\.\d+)|contract, (\d+\.\d+\.\d+): ends (\S+))\n/;
const constant = String.raw`(?:-?\d+|'[^']*'|NULL)`;
const addsColumn = new RegExp(
  String.raw`^ALTER TABLE (\S+) ADD COLUMN "?\w+"? \w+(?: (NOT NULL))?(?: DEFAULT ${constant})?(?: (NOT NULL))?$`,
);

/** A policy that shows all rows to statements that name no organization, as those of the previous version may. */
const openPolicy =
  /^CREATE POLICY \S+ ON (\S+) USING \( NULLIF\(NULLIF\(current_setting\('herald\.orgs', true\), ''\) IS NULL OR /;

/** A migration file: its name and its SQL. */
export type MigrationFile = { name: string; sql: string };

/** The faults of a migration after 0008, by the rules of CONTRIBUTING.md; `earlier` are the migrations before it. */
export function faultsOf({ name, sql }: MigrationFile, earlier: readonly MigrationFile[]): string[] {
  const [first, expandsIn, contractsIn, ended] = header.exec(sql) ?? [];
  if (first === undefined)
    return [`${name}: begins with neither "-- expand, <release>" nor "-- contract, <release>: ends <name>"`];
  if (expandsIn !== undefined) {
    const before = earlier.map((file) => migrationOf(file.name, file.sql));
    return faultsOfExpand(migrationOf(name, sql), before).map((fault) => `${name}: ${fault}`);
  }
  const expand = earlier.find((file) => file.name === ended);
  const [, release] = header.exec(expand?.sql ?? "") ?? [];
  if (release === undefined) return [`${name}: there is no expand ${ended} before it`];
  if (Bun.semver.order(contractsIn ?? "", release) !== 1) return [`${name}: comes no release later than ${ended}`];
  return [];
}

function faultsOfExpand(migration: Migration, earlier: readonly Migration[]): string[] {
  const touched = { made: new Set<string>(), walled: new Set<string>() };
  const [before, built] = [indexesOf(earlier), [...indexesOf([migration]).values()]];
  /** Whether the statement drops an index where the migration builds one that begins with the same columns. */
  const replaces = (statement: string) => {
    const dropped = before.get(/^DROP INDEX (\w+)$/.exec(statement)?.[1] ?? "");
    return dropped !== undefined && built.some((columns) => columns.startsWith(`${dropped},`));
  };
  return migration.steps.flatMap((step) =>
    statementsOf(step).flatMap((statement) => (replaces(statement) ? [] : (faultOf(step, statement, touched) ?? []))),
  );
}

/** The table and columns of each index that is neither unique nor partial, by its name. */
function indexesOf(migrations: readonly Migration[]): Map<string, string> {
  const create = /^CREATE INDEX (?:CONCURRENTLY )?(\w+) ON (\S+ \([^()]+)\)$/;
  const statements = migrations.flatMap(({ steps }) => steps.flatMap(statementsOf));
  return new Map(
    statements.flatMap((statement) => {
      const [, name, columns] = create.exec(statement) ?? [];
      return name === undefined || columns === undefined ? [] : [[name, columns] as const];
    }),
  );
}

const statementsOf = (step: Step) => (step.kind === "statements" ? step.statements : [step.statement]).map(plain);

/**
 * Tables that the migration itself creates, and those to which it adds a policy that the previous version does not
 * notice.
 */
type Touched = { made: Set<string>; walled: Set<string> };

/** Why earlier versions might stop working beside a statement; `undefined` if they do not. */
function faultOf({ kind }: Step, statement: string, { made, walled }: Touched): string | undefined {
  const [, created] = /^CREATE TABLE (\S+) \(/.exec(statement) ?? [];
  if (created !== undefined) {
    made.add(created);
    return undefined;
  }
  const table =
    /^(?:ALTER TABLE|INSERT INTO|UPDATE) (\S+)/.exec(statement)?.[1] ?? / ON (\S+)/.exec(statement)?.[1] ?? "";
  if (made.has(table) && !/^DROP\b/.test(statement)) return undefined;
  const opened = openPolicy.exec(statement)?.[1];
  if (opened !== undefined) {
    walled.add(opened);
    return undefined;
  }
  if (walled.has(table) && /^ALTER TABLE \S+ (ENABLE|FORCE) ROW LEVEL SECURITY$/.test(statement)) return undefined;
  if (kind === "index")
    return /^CREATE UNIQUE/.test(statement) ? `refuses rows that were taken: ${statement}` : undefined;
  if (/^CREATE .*\bINDEX\b/.test(statement)) return `keeps others from writing: ${statement}`;
  if (kind === "backfill")
    return / WHERE /.test(statement) && !/ OR /.test(statement) ? undefined : `needs a WHERE, without OR: ${statement}`;
  if (/^(UPDATE|DELETE)\b/.test(statement)) return `changes all rows at once: ${statement}`;
  const column = addsColumn.exec(statement);
  if (column === null) return `is no expansion: ${statement}`;
  const isRequired = column[2] !== undefined || column[3] !== undefined;
  return isRequired && !/ DEFAULT (?!NULL)/.test(statement)
    ? `asks for a value that nobody gives: ${statement}`
    : undefined;
}

function plain(statement: string): string {
  return statement
    .replaceAll(/^\s*--.*$/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}
