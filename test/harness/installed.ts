/** Says in one line what is skipped where a program is missing; under CI that is a failure. */
export function reportMissing(program: string, debianPackage: string): undefined {
  const install = `apt-get install ${debianPackage}`;
  if (process.env.CI === "true") throw new Error(`${program} is not installed: ${install}`);
  console.log(`skipped, since ${program} is not installed (${install}): what needs it`);
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
