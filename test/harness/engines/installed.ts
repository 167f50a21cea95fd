import { userInfo } from "node:os";

/** Says in one line what is skipped where a program is missing; under CI that is a failure. */
export function reportMissing(program: string, debianPackage: string): undefined {
  return skip(`${program} is not installed (apt-get install ${debianPackage})`);
}

/** Whether this is root, who alone may make namespaces and mounts. Says what is skipped otherwise; under CI that is a failure. */
export function isRoot(purpose: string): boolean {
  if (userInfo().uid === 0) return true;
  skip(`only root may do this: ${purpose}`);
  return false;
}

function skip(reason: string): undefined {
  if (process.env.CI === "true") throw new Error(reason);
  console.log(`skipped, since ${reason}: what needs it`);
  return undefined;
}

/**
 * A port that nobody listens on now. It lies below those that the system gives to outgoing connections (32768 and up),
 * so that a server which is stopped and started again finds it free.
 */
export function freePort(): number {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000);
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data: () => undefined } }).stop(true);
      return port;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    }
  }
}
