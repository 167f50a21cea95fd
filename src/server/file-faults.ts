import { type Config, ConfigError } from "../config.ts";
import { rootCauseOf } from "../lib/observing/root-cause.ts";
import { ForeignLogError } from "../store/sqlite/own-files.ts";

const advices: [code: RegExp, advice: string][] = [
  [
    /^(SQLITE_FULL|storage_full|ENOSPC|EDQUOT)$/,
    "free space on its disk, then start again; nothing that was stored is lost",
  ],
  [
    /^SQLITE_(CORRUPT|NOTADB)/,
    "a file there is damaged, or herald.db was replaced while the herald.db-wal of another database stayed beside it: move herald.db, herald.db-wal and herald.db-shm away, and put a backup back with `herald restore`",
  ],
  [
    /^(SQLITE_|unavailable$|E(ACCES|PERM|ROFS|IO)$)/,
    "check that its disk works, and that this user may write to herald.db and the files beside it whose names begin with that",
  ],
];

/** What the operator can fix about the files of the embedded database: what is so, and what to do. */
export function findFileFault(error: unknown): { is: string; advice: string } | undefined {
  if (error instanceof ForeignLogError)
    return { is: error.message, advice: "remove herald.db-wal and herald.db-shm there, and start again" };
  const codes = [error, error instanceof Error ? error.cause : undefined].map((one) =>
    one instanceof Error && "code" in one ? String(one.code) : "",
  );
  const advice = advices.find(([code]) => codes.some((one) => code.test(one)))?.[1];
  return advice === undefined ? undefined : { is: `its database cannot be opened (${rootCauseOf(error)})`, advice };
}

/** Explains what `findFileFault` finds, in one line; other errors stay as they are. */
export function explainFile(error: unknown, { HERALD_DATA_DIR: folder }: Config): unknown {
  const fault = findFileFault(error);
  if (fault === undefined) return error;
  return new ConfigError(`HERALD_DATA_DIR ${folder}: ${fault.is}; ${fault.advice}`, { cause: error });
}
