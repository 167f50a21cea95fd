import { SQL } from "bun";
import { rootCauseOf } from "../../lib/observing/root-cause.ts";
import { createId } from "../../lib/text/ids.ts";

/** Why a database cannot be used at all, and what to do, to complete "the database … ; …". */
export type Unsuitability = { is: string; advice: string };

/** A database answers, but cannot be used. */
export class UnsuitableDatabaseError extends Error {
  override readonly name = "UnsuitableDatabaseError";
  readonly reason: Unsuitability;

  constructor(reason: Unsuitability) {
    super(`the database ${reason.is}; ${reason.advice}`);
    this.reason = reason;
  }
}

type Facts = { encoding: string; settings: string; is_read_only: string; is_standby: number };

const mayTakeMs = 3_000;
// Sent when a connection is opened, as Herald's own settings are.
const mark = { name: "statement_timeout", value: "10007ms" };
const readFacts = `SELECT current_setting('server_encoding') AS encoding, current_setting('${mark.name}') AS settings,
  current_setting('transaction_read_only') AS is_read_only, CAST(pg_is_in_recovery() AS int) AS is_standby`;
/** The errors of a pooler that does not keep a session for each client. */
const ofPooler = /unsupported startup parameter|pooling mode|prepared statement .* (does not exist|already exists)/i;

const pooled: Unsuitability = {
  is: "is behind a connection pooler that gives a connection's session to others (as PgBouncer does with pool_mode=transaction)",
  advice:
    "connect to the PostgreSQL server itself: Herald pools its connections, and its settings belong to their sessions",
};

/** Finds out why Herald cannot use a database that answers; `undefined` if it can. Rejects if it does not answer. */
export async function findUnsuitability(url: string): Promise<Unsuitability | undefined> {
  const [one, another] = [connect(url), connect(url)];
  try {
    const [facts]: Facts[] = await one.unsafe(readFacts);
    if (facts === undefined || facts.settings !== mark.value) return pooled;
    const { encoding, is_read_only: isReadOnly, is_standby: isStandby } = facts;
    if (encoding !== "UTF8")
      return {
        is: `has the encoding ${encoding}, which cannot store every text`,
        advice: "create one with ENCODING 'UTF8' (and TEMPLATE template0), and point HERALD_DATABASE_URL at it",
      };
    if (isStandby === 1)
      return { is: "is a standby, which accepts no writes", advice: "promote it, or connect to the primary" };
    if (isReadOnly === "on")
      return { is: "is read-only", advice: "reset default_transaction_read_only for the database and its user" };
    return (await keepsSession(one, another)) ? undefined : pooled;
  } catch (error) {
    if (ofPooler.test(rootCauseOf(error))) return pooled;
    throw error;
  } finally {
    await Promise.all([one, another].map((connection) => connection.close({ timeout: 0 })));
  }
}

function connect(url: string): SQL {
  return new SQL(url, {
    max: 1,
    connectionTimeout: mayTakeMs / 1_000,
    connection: { application_name: "herald check", [mark.name]: mark.value },
  });
}

/**
 * Whether a session stays with its connection. While another connection is in a transaction, a pooler would give this one the
 * session of a third, or let it wait.
 */
async function keepsSession(one: SQL, another: SQL): Promise<boolean> {
  const value = createId();
  await one`SELECT set_config('herald.session', ${value}, false)`;
  return await another.begin(async (transaction) => {
    await transaction`SELECT 1`;
    const reading = one`SELECT current_setting('herald.session', true) AS value`.then(
      ([row]: { value: string | null }[]) => row?.value === value,
    );
    reading.catch(() => undefined); // after the time is up
    return await Promise.race([reading, Bun.sleep(mayTakeMs).then(() => false)]);
  });
}
