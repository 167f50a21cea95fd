import type { Logger } from "pino";
import type { Config } from "../config.ts";
import type { DatabaseEvents } from "../store/store.ts";
import { databaseTelling, openDatabase, prepareDataFolder, tellMigrated } from "./database.ts";
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
  const host = await openHost(config, databaseTelling(log));
  tellMigrated(log, host.migrated);
  return host;
}

/** Brings the configured database up to date, reporting progress. Returns the schema version before and after. */
export async function migrate(config: Config, onMigration: DatabaseEvents["onMigration"]) {
  const events = { announce: () => undefined, onCrash: () => undefined, onMigration };
  const { migrated, close } = await openDatabase(config, events);
  await close();
  return migrated;
}
