import { readFileSync } from "node:fs";

const lookEveryMs = 500;
const freeAgainMs = 70_000; // a closed port stays in TIME_WAIT for a minute

/**
 * Waits until at least half of this machine's ports are free: attackers who connect and leave use up 28,000 in seconds,
 * and then nobody can connect. Gives up after the time in which all become free.
 */
export async function waitForPorts(): Promise<void> {
  const until = performance.now() + freeAgainMs;
  while (countLeft() > countAll() / 2 && performance.now() < until) await Bun.sleep(lookEveryMs);
}

/** The number of closed connections whose ports are still in TIME_WAIT. */
function countLeft(): number {
  return Number(/\btw (\d+)/.exec(readFileSync("/proc/net/sockstat", "utf8"))?.[1]);
}

function countAll(): number {
  const [from = 0, to = 0] = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").split(/\s+/).map(Number);
  return to - from + 1;
}
