import { join } from "node:path";
import type { Logger } from "pino";
import { type Config, ConfigError } from "../config.ts";
import { createApiKey } from "../contract/keys/api-key.ts";
import { createRedaction, type Redaction } from "../contract/keys/redaction.ts";
import { createLogger } from "../lib/observing/logger.ts";
import { createSecret, givenOrMade, type Secret, SecretFileError } from "../lib/secret-file.ts";
import { requestSummary } from "./observing/observer.ts";

const ownSecretsAdvice =
  "generated secrets that nodes with another data folder do not know; give all nodes the same HERALD_ADMIN_API_KEY and HERALD_TOKEN_SECRET";

/** The files in the data folder with generated secrets. */
export const secretFiles = ["admin-api-key", "token-secret", "key-secret"] as const;

/** The secrets of a server: its bootstrap key, and what signs tokens and hashes API keys. */
export type Secrets = { adminKey: Secret; tokenSecret: string; keySecret: string };

/** Counts of a log: the lines that were dropped because nobody read them. */
export type LogFigures = { droppedLines: number };

const isSecret = /_(API_KEY|ACCESS_KEY|SECRET|SECRET_PREVIOUS|TOKEN|PASSWORD)$/;
const isSecretParameter = /pass(word|wd)?$|token$|secret$|key$|^auth|^sig(nature)?$/i;

/** The configured secrets, or else those in the data folder, which the first start creates. */
export function secretsOf(
  config: Config,
  { log, redaction }: { log: Logger; redaction: Pick<Redaction, "add"> },
): Secrets {
  const { HERALD_DATA_DIR: folder, HERALD_ADMIN_API_KEY: givenKey, HERALD_TOKEN_SECRET: givenSecret } = config;
  const [adminKeyFile, tokenSecretFile, keySecretFile] = secretFiles;
  const adminKey = keptSecret(givenKey, join(folder, adminKeyFile), () => createApiKey().key);
  const tokenSecret = keptSecret(givenSecret, join(folder, tokenSecretFile), createSecret);
  if (config.HERALD_BUS_URL !== undefined && (adminKey.isNew || tokenSecret.isNew)) log.warn(ownSecretsAdvice);
  // The secret for the digests of API keys. Nodes that share a database must share it, so there it is the token secret.
  const isShared = config.HERALD_DATABASE_URL !== undefined;
  const keySecret = isShared ? tokenSecret : keptSecret(undefined, join(folder, keySecretFile), createSecret);
  redaction.add([adminKey, tokenSecret, keySecret].map(({ value }) => value));
  return { adminKey, tokenSecret: tokenSecret.value, keySecret: keySecret.value };
}

/** Like `givenOrMade`; a file that holds no secret is the operator's to mend. */
function keptSecret(...place: Parameters<typeof givenOrMade>): Secret {
  try {
    return givenOrMade(...place);
  } catch (error) {
    if (error instanceof SecretFileError) throw new ConfigError(error.message, { cause: error });
    throw error;
  }
}

/**
 * Opens this process's log, and the redaction that keeps credentials out of it and out of everything else that is
 * recorded.
 */
export function openLog(
  config: Config,
  worker?: number,
): { log: Logger; logFigures: LogFigures; redaction: Redaction } {
  const redaction = createRedaction(secretsIn(config));
  const logFigures = { droppedLines: 0 };
  const onLost = (lines: number) => {
    logFigures.droppedLines += lines;
  };
  const log = createLogger(config.HERALD_LOG_LEVEL, redaction.redact, { summary: requestSummary, onLost });
  return { log: worker === undefined ? log : log.child({ worker }), logFigures, redaction };
}

/** All secrets in the settings, including those in URLs. */
function secretsIn(config: Config): string[] {
  return Object.entries(config).flatMap(([name, value]) => {
    if (typeof value !== "string") return [];
    if (isSecret.test(name)) return [value];
    return name.endsWith("_URL") ? value.split(",").flatMap(secretsInUrl) : [];
  });
}

/**
 * The password, a user name that stands alone and is therefore a token (not for PostgreSQL, which has users without
 * passwords), and parameters whose names say that they are secret.
 */
function secretsInUrl(text: string): string[] {
  const url = URL.parse(text.trim());
  if (url === null) return [];
  const { protocol, username, password, searchParams } = url;
  const isToken = password === "" && !protocol.startsWith("postgres");
  const credentials = isToken ? [username] : [password];
  const parameters = [...searchParams].filter(([name]) => isSecretParameter.test(name)).map(([, value]) => value);
  return [...credentials.flatMap((one) => [one, decoded(one)]), ...parameters];
}

/** The text without percent-encoding, or as it is if the encoding is not valid. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
