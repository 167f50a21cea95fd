import { readdirSync, readFileSync } from "node:fs";

/** Reads the process metrics, by their Prometheus names. Open files are counted on Linux only. */
export function measureProcess() {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return {
    process_cpu_seconds_total: (user + system) / 1e6,
    process_resident_memory_bytes: rss,
    process_heap_used_bytes: heapUsed,
    ...(process.platform === "linux" && openFiles()),
    process_start_time_seconds: performance.timeOrigin / 1000,
  };
}

function openFiles() {
  const limit = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  return {
    process_open_fds: readdirSync("/proc/self/fd").length - 1, // the folder itself is open during the read
    ...(limit !== undefined && { process_max_fds: Number(limit) }),
  };
}
