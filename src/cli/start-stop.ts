import type { Config } from "../config.ts";
import type { Herald } from "../server.ts";
import { CliError, exitCodes } from "./exit-codes.ts";

/** What a person can do about a start that failed; an error that says so itself, or that nobody expects, stays as it is. */
export function explainStart(error: unknown, { HERALD_HOST: host, HERALD_PORT: port }: Config): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const reasons: Record<string, string> = {
    EADDRINUSE: `port ${port} on ${host} is taken. Stop what listens there, or set HERALD_PORT to another one (0 picks a free one).`,
    EACCES: `port ${port} on ${host} is not allowed for this user. Set HERALD_PORT to one from 1024.`,
    EADDRNOTAVAIL: `this machine has no address ${host}. Set HERALD_HOST to one that it has, or to 0.0.0.0 for all.`,
    EINVAL: `${host} is no address to listen on. Set HERALD_HOST to one of this machine's, or to 0.0.0.0 for all.`,
  };
  const reason = typeof code === "string" ? reasons[code] : undefined;
  return reason === undefined ? error : new CliError(exitCodes.failed, reason);
}

/** Stops a node; throws `CliError` when that takes too long. */
export async function stopInTime(herald: Herald): Promise<void> {
  await herald.stop().catch((error: Error) => {
    throw new CliError(exitCodes.failed, error.message);
  });
}
