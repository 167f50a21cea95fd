import type { Logger } from "pino";
import type { HttpServer } from "../network/http-server.ts";
import type { Clock } from "../time/clock.ts";
import { readTls, type Tls, type TlsFiles } from "./tls-files.ts";

const checkEveryMs = 10_000;

type Options = { files: TlsFiles; current: Tls; server: Pick<HttpServer, "replaceTls">; clock: Clock; log: Logger };

/**
 * Adopts a changed certificate within 10 seconds, or at once on SIGHUP. Unusable files change nothing and are reported
 * once. Polling detects every way of replacing the files, unlike file system events. Returns the function that stops
 * it.
 */
export function followTls({ files, current, server, clock, log }: Options): () => void {
  let known = current;
  let told = "";
  const tell = (tls: Tls) => log.info({ valid_until: new Date(tls.expiresAt).toISOString() }, "serving TLS");

  function replace(tls: Tls): void {
    known = tls;
    try {
      server.replaceTls(tls);
    } catch (error) {
      log.fatal(
        { err: error },
        "lost the port while changing the certificate; exiting, so that the supervisor restarts the process",
      );
      process.exit(1);
    }
    tell(tls);
  }

  function check(): void {
    try {
      const found = readTls(files, clock);
      told = "";
      if (found.cert !== known.cert || found.key !== known.key) replace(found);
    } catch (error) {
      if (String(error) !== told) log.error({ err: error }, "cannot use the new certificate; keeping the previous one");
      told = String(error);
    }
  }

  tell(current);
  process.on("SIGHUP", check);
  const timer = setInterval(check, checkEveryMs);
  return () => {
    clearInterval(timer);
    process.off("SIGHUP", check);
  };
}
