import type { Logger } from "pino";
import type { Config } from "../config.ts";
import type { DatabaseEvents } from "../store/store.ts";
import { openDatabase, prepareDataFolder } from "./database.ts";
import { type Host, openHost } from "./host.ts";
import { findPorts } from "./listen.ts";
import { warnOfPlainHttp } from "./plain-http.ts";
import { openLog, secretsOf } from "./secrets.ts";

/** Creates what workers must share: the secrets, and ports on which nobody else listens. */
export async function prepareWorkers(config: Config) {
  prepareDataFolder(config);
  const shared = await findPorts(config);
  const { log, redaction } = openLog(config);
  warnOfPlainHttp(config, log);
  return { ...shared, adminKey: secretsOf(config, { log, redaction }).adminKey, log };
}

/** Opens what workers share if they have neither PostgreSQL nor NATS, and tells the log of it. */
export async function openWorkersHost(config: Config, log: Logger): Promise<Host> {
  const host = await openHost(config, {
    onCrash(error) {
      log.fatal({ err: error }, "the database thread died; exiting, so that the supervisor restarts the process");
      process.exit(1);
    },
    onMigration: (message, facts) => log.info(facts, message),
  });
  const { from, to } = host.migrated;
  if (from !== to) log.info({ from, to }, "migrated the database schema");
  return host;
}

/** Brings the configured database up to date, reporting progress. Returns the schema version before and after. */
export async function migrate(config: Config, onMigration: DatabaseEvents["onMigration"]) {
  const events = { announce: () => undefined, onCrash: () => undefined, onMigration };
  const { migrated, close } = await openDatabase(config, events);
  await close();
  return migrated;
}
