import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { createApiKey } from "../contract/api-key.ts";
import { createSecret, givenOrMade, type Secret } from "../lib/secret-file.ts";

const ownSecretsAdvice =
  "made secrets of its own, which nodes with another data folder do not know: give all nodes the same HERALD_ADMIN_API_KEY and HERALD_TOKEN_SECRET";

/** The secrets of the settings, or else those in the data folder, which the first start makes. */
export function secretsOf(config: Config, log: Logger): { adminKey: Secret; tokenSecret: string; keySecret: string } {
  const { HERALD_DATA_DIR: folder, HERALD_ADMIN_API_KEY: givenKey, HERALD_TOKEN_SECRET: givenSecret } = config;
  const adminKey = givenOrMade(givenKey, join(folder, "admin-api-key"), () => createApiKey().key);
  const tokenSecret = givenOrMade(givenSecret, join(folder, "token-secret"), createSecret);
  if (config.HERALD_BUS_URL !== undefined && (adminKey.isNew || tokenSecret.isNew)) log.warn(ownSecretsAdvice);
  // What the digests of API keys are made with. Nodes on one database must share it, so there it is the secret they share.
  const isShared = config.HERALD_DATABASE_URL !== undefined;
  const keySecret = isShared ? tokenSecret : givenOrMade(undefined, join(folder, "key-secret"), createSecret);
  return { adminKey, tokenSecret: tokenSecret.value, keySecret: keySecret.value };
}
