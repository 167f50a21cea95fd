import type { Subprocess } from "bun";

/**
 * Returns the function that sends to a child process while it runs. Later it sends nothing, also not to one that a signal ended, which
 * has no exit code: `send` would throw.
 */
export function sendWhileRunning<Message>(
  child: Pick<Subprocess, "exitCode" | "signalCode" | "send">,
): (message: Message) => void {
  return (message) => {
    if (child.exitCode === null && child.signalCode === null) child.send(message);
  };
}
