import { type Config, ConfigError } from "../config.ts";
import { systemClock } from "../lib/time/clock.ts";
import { readTls, type Tls, TlsFileError, type TlsFiles } from "../lib/tls/tls-files.ts";

/** The files of the certificate and its key; `undefined` if none are configured. */
export function tlsFilesOf({ HERALD_TLS_CERT: cert, HERALD_TLS_KEY: key }: Config): TlsFiles | undefined {
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

/** Reads the certificate and its key. Throws `ConfigError`, which names the setting. */
export function openTls(files: TlsFiles): Tls {
  try {
    return readTls(files, systemClock);
  } catch (error) {
    if (error instanceof TlsFileError)
      throw new ConfigError(`HERALD_TLS_${error.which.toUpperCase()} ${error.message}`);
    throw error;
  }
}
