import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../../config.ts";
import { HeraldError } from "../../contract/errors/errors.ts";
import { createOutage, type Outage } from "../../lib/observing/outages.ts";
import { steadyClock } from "../../lib/time/clock.ts";
import { problemOf } from "./database-problems.ts";

/** The dependencies of a node, each of which may be away. */
export type Dependencies = Record<"database" | "bus" | "files" | "outbox" | "provider" | "signIn", Outage>;

const refusing =
  "until it is back, sends and other changes are answered 503 or 507, reads as far as they can be, and open connections stay open";
const busAdvice =
  "bus: not connected; until it is back, messages from other nodes arrive within 5 s, sends work, and presence of all nodes is unavailable; check that NATS runs, can be reached and accepts the credentials of HERALD_BUS_URL";
const filesAdvice =
  "files: the folder or bucket of HERALD_FILES_URL cannot be used; until it is back, uploads and downloads are answered 503, and messages go on; check that it can be reached, has room, and accepts the credentials";
const outboxAdvice =
  "outbox: the database of HERALD_OUTBOX_URL cannot be used; until it is back, what is committed there waits, and everything else goes on";
const outboxChecks = "check that it runs, and its user and password";
const providerAdvice =
  "identity provider: its keys cannot be fetched from HERALD_TOKEN_JWKS_URL; known keys stay valid for 6 hours, tokens signed with others are refused, and connections that are open stay open; check that the address can be reached";
const signInAdvice =
  "OpenID provider: HERALD_ADMIN_OIDC_ISSUER cannot be asked; until it is back, nobody can sign in anew to the console, sessions go on, and tokens of workloads are accepted while its keys are known; check that the address can be reached, and that it is the issuer";

/** Creates the reports of outages of a node's dependencies: one line when it begins, one when it ends. */
export function createDependencies(config: Config, log: Logger): Dependencies {
  const clock = steadyClock;
  const { HERALD_DATA_DIR: folder } = config;
  const outage = (dependency: string, address: string, describe: (error: unknown) => string) =>
    createOutage({ log, dependency, address, describe, clock });
  return {
    database: outage("database", placeOf(config.HERALD_DATABASE_URL) ?? join(folder, "herald.db"), (error) => {
      const { is, advice } = problemOf(error);
      return `database: ${is}; ${refusing}; ${advice}`;
    }),
    bus: outage("bus", placeOf(config.HERALD_BUS_URL) ?? "", () => busAdvice),
    files: outage("files", placeOf(config.HERALD_FILES_URL) ?? join(folder, "files"), () => filesAdvice),
    outbox: outage("outbox", placeOf(config.HERALD_OUTBOX_URL) ?? "", (error) => {
      const isExplained = error instanceof Error && error.cause !== undefined && !(error instanceof HeraldError);
      return `${outboxAdvice}; ${isExplained ? error.message : outboxChecks}`;
    }),
    signIn: outage("OpenID provider", placeOf(config.HERALD_ADMIN_OIDC_ISSUER) ?? "", () => signInAdvice),
    provider: outage("identity provider", placeOf(config.HERALD_TOKEN_JWKS_URL) ?? "", () => providerAdvice),
  };
}

/** The addresses of a setting, without user, password and parameters. */
function placeOf(setting: string | undefined): string | undefined {
  return setting
    ?.split(",")
    .map((one) => {
      const { protocol, host, pathname } = new URL(one.trim());
      return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
    })
    .join(", ");
}
