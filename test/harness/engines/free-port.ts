import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const claims = join(tmpdir(), "herald-test-ports");
const claimed: string[] = [];

/**
 * A port that nobody listens on now, below those that the system assigns to outgoing connections (32768 and up), so
 * that it stays free while a server is restarted. No other test on this machine gets it before this process ends.
 */
export function freePort(): number {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000);
    if (isFree(port) && claim(port)) return port;
  }
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data: () => undefined } }).stop(true);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return false;
    throw error;
  }
}

/** Whether this process has the port now: several pick ports at once, and start their servers on them later. */
function claim(port: number): boolean {
  mkdirSync(claims, { recursive: true });
  const file = join(claims, String(port));
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
  } catch {
    if (!isHeld(file)) rmSync(file, { force: true }); // it can be claimed the next time
    return false;
  }
  if (claimed.length === 0) process.on("exit", release);
  claimed.push(file);
  return true;
}

function isHeld(file: string): boolean {
  try {
    process.kill(Number(readFileSync(file, "utf8")), 0);
    return true;
  } catch {
    return false;
  }
}

function release(): void {
  for (const file of claimed) rmSync(file, { force: true });
}
