import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const controller = "/sys/fs/cgroup/cpu"; // cgroup v1; version 2 has no folder of that name
const periodMicros = 10_000;

/** Keeps a process and all its threads on one core (taskset(1)). */
export function pinTo(core: number, pid: number): void {
  execFileSync("taskset", ["-a", "-c", "-p", String(core), String(pid)], { stdio: "ignore" });
}

/** Lets processes have no more than a share of a core each. */
export type Throttle = { limit(pid: number, share: number): void; lift(): void };

/** A throttle made of control groups, or `undefined` where this user may not make them. */
export function createThrottle(): Throttle | undefined {
  if (!existsSync(join(controller, "cpu.cfs_quota_us"))) return undefined;
  const groups = new Map<string, number>();
  return {
    limit(pid, share) {
      const group = join(controller, `herald-bench-${pid}`);
      mkdirSync(group, { recursive: true });
      groups.set(group, pid);
      writeFileSync(join(group, "cpu.cfs_period_us"), String(periodMicros));
      writeFileSync(join(group, "cpu.cfs_quota_us"), String(periodMicros * share));
      writeFileSync(join(group, "cgroup.procs"), String(pid));
    },
    lift() {
      for (const [group, pid] of groups) {
        writeFileSync(join(controller, "cgroup.procs"), String(pid));
        rmdirSync(group);
      }
      groups.clear();
    },
  };
}
