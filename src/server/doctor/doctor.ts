import type { Config } from "../../config.ts";
import { about } from "../../contract/documents/about.ts";
import { rootCauseOf } from "../../lib/observing/root-cause.ts";
import { checkAddress, checkCertificate, checkOrigins } from "./address-checks.ts";
import { checkBus, checkDatabase, checkOutbox } from "./database-checks.ts";
import { checkFiles } from "./files-checks.ts";
import { type Finding, failure, ok } from "./finding.ts";
import { checkDataFolder, checkDisk, checkOpenFiles, checkSecrets } from "./machine-checks.ts";

type Check = [subject: string, advice: string, check: (config: Config) => Promise<Finding[]> | Finding[]];

const checks: Check[] = [
  ["data folder", "set HERALD_DATA_DIR to a folder that this user may write to", checkDataFolder],
  ["disk", "check that the data folder exists", checkDisk],
  ["secrets", "check who may read the files", checkSecrets],
  ["database", "check that the server runs, and the user, password and database name", checkDatabase],
  ["bus", "check that NATS runs, and HERALD_BUS_URL", checkBus],
  ["outbox", "run there what `herald outbox sql` prints, and check HERALD_OUTBOX_URL", checkOutbox],
  ["files", "check HERALD_FILES_URL, and HERALD_FILES_S3_… for a bucket: messages go on, files do not", checkFiles],
  ["open files", "check the limits of this process", checkOpenFiles],
  ["address", "check HERALD_HOST and HERALD_PORT", checkAddress],
  ["certificate", "check HERALD_TLS_CERT and HERALD_TLS_KEY", checkCertificate],
  ["origins", "check HERALD_ALLOWED_ORIGINS", checkOrigins],
];

/** Checks what a node needs, one thing after another, beside a running server or without one. Changes nothing. */
export async function* diagnose(config: Config): AsyncGenerator<Finding> {
  yield ok("version", `Herald ${about.version} on Bun ${Bun.version}`);
  for (const findings of checks.map((check) => run(check, config))) yield* await findings;
}

/** Runs a check; what it throws becomes a failure. */
async function run([subject, advice, check]: Check, config: Config): Promise<Finding[]> {
  try {
    return await check(config);
  } catch (error) {
    return [failure(subject, rootCauseOf(error), advice)];
  }
}
