/** Says in one line what is skipped where a program is missing; under CI that is a failure. */
export function reportMissing(program: string, debianPackage: string): undefined {
  const install = `apt-get install ${debianPackage}`;
  if (process.env.CI === "true") throw new Error(`${program} is not installed: ${install}`);
  console.log(`skipped, since ${program} is not installed (${install}): what needs it`);
  return undefined;
}

/** A port that nobody listens on now. */
export function freePort(): number {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const { port } = server;
  server.stop(true);
  return port;
}
