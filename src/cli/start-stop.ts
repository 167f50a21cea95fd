import type { Config } from "../config.ts";
import type { Herald } from "../server.ts";
import { CliError, exitCodes } from "./exit-codes.ts";

/** Explains how to fix a failed start. Returns errors that explain themselves, and unexpected ones, unchanged. */
export function explainStart(error: unknown, { HERALD_HOST: host, HERALD_PORT: port }: Config): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const reasons: Record<string, string> = {
    EADDRINUSE: `port ${port} on ${host} is already in use. Stop the program that uses it, or set HERALD_PORT to another port (0 picks a free one).`,
    EACCES: `this user may not listen on port ${port} on ${host}. Set HERALD_PORT to 1024 or higher.`,
    EADDRNOTAVAIL: `this machine does not have the address ${host}. Set HERALD_HOST to one of its addresses, or to 0.0.0.0 for all.`,
    EINVAL: `${host} is not an address that a server can listen on. Set HERALD_HOST to one of this machine's addresses, or to 0.0.0.0 for all.`,
  };
  const reason = typeof code === "string" ? reasons[code] : undefined;
  return reason === undefined ? error : new CliError(exitCodes.failed, reason);
}

/** Stops a node. Throws `CliError` if that takes too long. */
export async function stopInTime(herald: Herald): Promise<void> {
  await herald.stop().catch((error: Error) => {
    throw new CliError(exitCodes.failed, error.message);
  });
}
