import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const controller = "/sys/fs/cgroup/cpu"; // cgroup v1; version 2 has no folder of that name
const periodMicros = 10_000;

/** Pins a process and all its threads to one core (taskset(1)). */
export function pinTo(core: number, pid: number): void {
  execFileSync("taskset", ["-a", "-c", "-p", String(core), String(pid)], { stdio: "ignore" });
}

/** Limits each process to a share of a core, together with the processes it starts later. */
export type Throttle = { limit(pid: number, share: number): void; lift(): void };

/** The parent of a process (ppid, proc(5)). */
export function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

/** A process and all that it started, directly or not (children, proc(5)). */
export function processTreeOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  const children = threads.flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(processTreeOf)];
}

/** Creates a throttle from control groups; `undefined` if this user may not create them. */
export function createThrottle(): Throttle | undefined {
  if (!existsSync(join(controller, "cpu.cfs_quota_us"))) return undefined;
  const groups = new Set<string>();
  return {
    limit(pid, share) {
      const group = join(controller, `herald-bench-${pid}`);
      mkdirSync(group, { recursive: true });
      groups.add(group);
      writeFileSync(join(group, "cpu.cfs_period_us"), String(periodMicros));
      writeFileSync(join(group, "cpu.cfs_quota_us"), String(periodMicros * share));
      writeFileSync(join(group, "cgroup.procs"), String(pid));
    },
    lift() {
      for (const group of groups) {
        for (const pid of readFileSync(join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean))
          writeFileSync(join(controller, "cgroup.procs"), pid);
        rmdirSync(group);
      }
      groups.clear();
    },
  };
}
