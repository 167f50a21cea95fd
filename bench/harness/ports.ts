import { readFileSync } from "node:fs";

const lookEveryMs = 500;
const freeAgainMs = 70_000; // a port that was left is kept for a minute (TIME_WAIT)

/**
 * Waits until at least half of this machine's ports are free for connections to it: attackers who come and go leave 28,000 behind in seconds,
 * and then nobody can connect. Gives up after the time in which all come free.
 */
export async function waitForPorts(): Promise<void> {
  const until = performance.now() + freeAgainMs;
  while (countLeft() > countAll() / 2 && performance.now() < until) await Bun.sleep(lookEveryMs);
}

/** Connections that have ended, whose ports nobody may take yet. */
function countLeft(): number {
  return Number(/\btw (\d+)/.exec(readFileSync("/proc/net/sockstat", "utf8"))?.[1]);
}

function countAll(): number {
  const [from = 0, to = 0] = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").split(/\s+/).map(Number);
  return to - from + 1;
}
