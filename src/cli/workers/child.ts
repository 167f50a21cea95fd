import type { Subprocess } from "bun";

/**
 * Sends to a child process if it runs. It sends nothing to one that has ended, also not to one that a signal ended, which has no exit
 * code: `send` would throw.
 */
export function sendIfRunning(child: Pick<Subprocess, "exitCode" | "signalCode" | "send">, message: unknown): void {
  if (child.exitCode === null && child.signalCode === null) child.send(message);
}
