import type { Config } from "../../config.ts";
import { about } from "../../contract/documents/about.ts";
import { checkAddress, checkCertificate, checkOrigins } from "./address-checks.ts";
import { checkBus, checkDatabase, checkOutbox } from "./database-checks.ts";
import { checkFiles } from "./files-checks.ts";
import { type Finding, ok, runCheck } from "./finding.ts";
import { checkDataFolder, checkDisk, checkOpenFiles, checkSecrets } from "./machine-checks.ts";

/** Checks what a node needs, one thing after another, beside a running server or without one. Changes nothing. */
export async function* diagnose(config: Config): AsyncGenerator<Finding> {
  yield ok("version", `Herald ${about.version} on Bun ${Bun.version}`);
  const checks = [
    runCheck("data folder", "set HERALD_DATA_DIR to a folder that this user may write to", () =>
      checkDataFolder(config),
    ),
    runCheck("disk", "check that the data folder exists", () => checkDisk(config)),
    runCheck("secrets", "check who may read the files", () => checkSecrets(config)),
    runCheck("database", "check that the server runs, and the user, password and database name", () =>
      checkDatabase(config),
    ),
    runCheck("bus", "check that NATS runs, and HERALD_BUS_URL", () => checkBus(config)),
    runCheck("outbox", "run there what `herald outbox sql` prints, and check HERALD_OUTBOX_URL", () =>
      checkOutbox(config),
    ),
    runCheck("files", "check HERALD_FILES_URL, and HERALD_FILES_S3_… for a bucket: messages go on, files do not", () =>
      checkFiles(config),
    ),
    runCheck("open files", "check the limits of this process", checkOpenFiles),
    runCheck("address", "check HERALD_HOST and HERALD_PORT", () => checkAddress(config)),
    runCheck("certificate", "check HERALD_TLS_CERT and HERALD_TLS_KEY", () => checkCertificate(config)),
    runCheck("origins", "check HERALD_ALLOWED_ORIGINS", () => checkOrigins(config)),
  ];
  for (const findings of checks) yield* await findings;
}
