import { type Config, ConfigError } from "../config.ts";
import { systemClock } from "../lib/time/clock.ts";
import { readTls, type Tls, TlsFileError, type TlsFiles } from "../lib/tls/tls-files.ts";

/** A certificate and its key, and the files that they are in. */
export type OpenTls = { files: TlsFiles; current: Tls };

/** Reads the certificate and its key; `undefined` if none are configured. Throws `ConfigError`, which names the setting. */
export function openTls({ HERALD_TLS_CERT: cert, HERALD_TLS_KEY: key }: Config): OpenTls | undefined {
  if (cert === undefined || key === undefined) return undefined;
  const files = { cert, key };
  try {
    return { files, current: readTls(files, systemClock) };
  } catch (error) {
    if (error instanceof TlsFileError)
      throw new ConfigError(`HERALD_TLS_${error.which.toUpperCase()} ${error.message}`);
    throw error;
  }
}
