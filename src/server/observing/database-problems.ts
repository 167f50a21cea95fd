import { HeraldError } from "../../contract/errors/errors.ts";
import { errorCodeOf } from "../../store/sql/driver.ts";

/** What is wrong with a database, for anyone who asks, and what to do about it. */
type Problem = { is: string; advice: string };

const full: Problem = { is: "its disk is full", advice: "free space on the disk of the database" };
const silent: Problem = { is: "does not respond", advice: "check that the database server runs and can be reached" };
const untold: Problem = { is: "cannot be written; see this node's log", advice: "see the error before this line" };

/** By SQLSTATE (PostgreSQL, appendix A), or by the code or the name of an error of the embedded database. */
const problems: [state: RegExp, is: string, advice: string][] = [
  [
    /^25006/,
    "is read-only: it is a standby that was not promoted, or is set to read-only",
    "promote it, or point HERALD_DATABASE_URL at the primary, or reset default_transaction_read_only",
  ],
  [/^42501/, "refuses a permission to its user", "grant the user of HERALD_DATABASE_URL what the cause names"],
  [/^(42P01|3F000|3D000)/, "lacks a table or a schema", "restore what the cause names from a backup"],
  [/^28/, "refuses the user or the password", "check the user and the password of HERALD_DATABASE_URL"],
  [/^53300/, "is out of connections", "end other sessions, or raise max_connections"],
  [
    /^(57014|55P03|25P0[34]|40)/,
    "cancels statements, or locks hold them up",
    "look for locks and long statements in pg_stat_activity",
  ],
  [
    /^(26000|42P05)/,
    "is behind a connection pooler",
    "point HERALD_DATABASE_URL at the server itself, not at a pooler",
  ],
  [/^(58|XX|SQLITE_(CORRUPT|NOTADB))/, "is damaged, or its disk is", "check the disk, and restore a backup"],
  [
    /^SQLITE_(IOERR|READONLY|CANTOPEN|PERM)/,
    "cannot be written",
    "check the disk of HERALD_DATA_DIR, and who may write to it",
  ],
  [
    /^FilesReplacedError/,
    "lost its files: they were removed or replaced while this node has them open",
    "stop this node, put the database back into HERALD_DATA_DIR (see herald restore), and start it again",
  ],
];

/** Says what a failed write tells about the database. */
export function problemOf(error: unknown): Problem {
  if (!(error instanceof HeraldError)) return untold;
  if (error.code === "storage_full") return full;
  const { cause } = error;
  const state = errorCodeOf(cause) || (cause instanceof Error ? cause.name : "");
  const [, is = silent.is, advice = silent.advice] = problems.find(([states]) => states.test(state)) ?? [];
  return { is, advice };
}
