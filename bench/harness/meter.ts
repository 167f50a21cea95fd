import { readFileSync } from "node:fs";

const clockTickMs = 10; // USER_HZ is 100 on every Linux that Bun runs on (proc(5))

/** CPU time of a period, in cores: 1 is one core all the time. */
export type Busy = {
  elapsedMs: number;
  /** CPU time of the server, user and system, in milliseconds. */
  serverCpuMs: number;
  server: number;
  generator: number;
  /**
   * Everything else on the machine, the probe and other programs alike. A value far above 0 means that the run was
   * disturbed.
   */
  others: number;
};

/**
 * Starts measuring the server process `pid` (or just this process), this process and the machine. The returned function
 * ends the period.
 */
export function startMeter(pid: number): () => Busy {
  const startedAt = performance.now();
  const [server, generator, machine] = [cpuMsOf(pid), cpuMsOf(process.pid), busyMsOfMachine()];
  return () => {
    const elapsedMs = performance.now() - startedAt;
    const serverCpuMs = cpuMsOf(pid) - server;
    const generatorCpuMs = cpuMsOf(process.pid) - generator;
    const ownMs = pid === process.pid ? serverCpuMs : serverCpuMs + generatorCpuMs;
    const othersMs = Math.max(0, busyMsOfMachine() - machine - ownMs);
    return {
      elapsedMs,
      serverCpuMs,
      server: serverCpuMs / elapsedMs,
      generator: generatorCpuMs / elapsedMs,
      others: othersMs / elapsedMs,
    };
  };
}

/** utime + stime of a process and its threads, in milliseconds: fields 14 and 15 of `/proc/<pid>/stat`. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * clockTickMs;
}

/**
 * CPU time of a process's first thread in milliseconds, precise to the nanosecond: for programs without other threads.
 */
export function exactCpuMsOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}

/** How long a process's first thread could have run and had no processor, in milliseconds (schedstat, proc(5)). */
export function processorWaitMsOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
}

/** The peak memory of a process since its start (VmHWM, proc(5)), in bytes. */
export function peakMemoryOf(pid: number): number {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) * 1024;
}

/** The memory of a process (VmRSS, proc(5)), in bytes. */
export function memoryOf(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) * 1024;
}

/** The memory of kernel objects on the whole machine, including sockets (Slab, proc(5)), in bytes. */
export function memoryOfKernel(): number {
  const [, kibibytes] = /^Slab:\s+(\d+) kB$/m.exec(readFileSync("/proc/meminfo", "utf8")) ?? [];
  return Number(kibibytes) * 1024;
}

/**
 * Everything in the first line of `/proc/stat` except idle and iowait; guest time is left out, as user time includes
 * it.
 */
function busyMsOfMachine(): number {
  const [line = ""] = readFileSync("/proc/stat", "utf8").split("\n");
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.trim().split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq) * clockTickMs;
}
