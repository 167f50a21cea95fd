import { ListenError } from "../server/listen-error.ts";
import type { Herald } from "../server.ts";
import { CliError, exitCodes } from "./exit-codes.ts";

/** Waits for a start. If it fails, explains how to fix that; errors that explain themselves, and unexpected ones, stay unchanged. */
export async function explained<Started>(start: Promise<Started>): Promise<Started> {
  try {
    return await start;
  } catch (error) {
    throw explain(error);
  }
}

function explain(error: unknown): unknown {
  if (!(error instanceof ListenError)) return error;
  const { settings, hostname: host, port, code = "" } = error;
  const reasons: Record<string, string> = {
    EADDRINUSE: `port ${port} on ${host} is already in use. Stop the program that uses it, or set ${settings}_PORT to another port (0 picks a free one).`,
    EACCES: `this user may not listen on port ${port} on ${host}. Set ${settings}_PORT to 1024 or higher.`,
    EADDRNOTAVAIL: `this machine does not have the address ${host}. Set ${settings}_HOST to one of its addresses, or to 0.0.0.0 for all.`,
    EINVAL: `${host} is not an address that a server can listen on. Set ${settings}_HOST to one of this machine's addresses, or to 0.0.0.0 for all.`,
  };
  const reason = reasons[code];
  return reason === undefined ? error : new CliError(exitCodes.failed, reason);
}

/** Stops a node. Throws `CliError` if that takes too long. */
export async function stopInTime(herald: Herald): Promise<void> {
  await herald.stop().catch((error: Error) => {
    throw new CliError(exitCodes.failed, error.message);
  });
}
