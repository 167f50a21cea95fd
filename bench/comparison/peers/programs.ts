import { freePort } from "../../../test/harness/engines/free-port.ts";

/** A program that listens. */
export type Program = { port: number; pid: number; stop(): Promise<void> };

const mayTakeMs = 20_000;
const lookEveryMs = 50;

/** Finds a program; says in one line how to install it if it is missing. */
export function findProgram(name: string, debianPackage: string): string | undefined {
  const found = Bun.which(name, { PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` });
  if (found === null) console.error(`  without ${name}: it is not installed (apt-get install ${debianPackage})`);
  return found ?? undefined;
}

/** Starts a program with the arguments for a free port, and waits until it accepts connections there. */
export async function startProgram(commandOf: (port: number) => string[]): Promise<Program> {
  const port = freePort();
  const command = commandOf(port);
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  process.on("exit", () => child.kill("SIGKILL"));
  const errors = new Response(child.stderr).text();
  for (const end = Date.now() + mayTakeMs; ; await Bun.sleep(lookEveryMs)) {
    if (child.exitCode !== null) throw new Error(`${command[0]} ended with code ${child.exitCode}: ${await errors}`);
    if (await accepts(port)) break;
    if (Date.now() > end) throw new Error(`${command[0]} does not listen on ${port}`);
  }
  return {
    port,
    pid: child.pid,
    async stop() {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), mayTakeMs);
      await child.exited;
      clearTimeout(timer);
    },
  };
}

async function accepts(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => undefined } });
    socket.end();
    return true;
  } catch {
    return false;
  }
}

/** What a program prints when it is asked for its version: the first number with dots. */
export function versionOf(command: string[]): string {
  const { stdout, stderr } = Bun.spawnSync(command);
  return /\d+\.\d+(\.\d+)?/.exec(`${stdout}${stderr}`)?.[0] ?? "unknown";
}
