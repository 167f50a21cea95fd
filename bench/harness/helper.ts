import { resolve } from "node:path";

/** A bench script in a process of its own, which takes orders and reports, one message at a time. */
export type Helper<Order, Report> = {
  tell(order: Order): void;
  /** The next unread report. Rejects if the process has ended. */
  next(): Promise<Report>;
  /** SIGSTOP: it does nothing more, and notices nothing. */
  freeze(): void;
  stop(): Promise<void>;
};

/**
 * Starts `bench/<script>`, which sends `Report`s; its types are the script's promise. One that is `idle` runs while no other
 * process wants the processor (SCHED_IDLE, sched(7)).
 */
export function startHelper<Order, Report>(script: string, { idle = false } = {}): Helper<Order, Report> {
  const reports: Report[] = [];
  let heard: (() => void) | undefined;
  const policy = idle ? ["chrt", "--idle", "0"] : [];
  const child = Bun.spawn([...policy, process.execPath, resolve(import.meta.dir, "../processes", script)], {
    stdio: ["ignore", "inherit", "inherit"],
    ipc(report: Report) {
      reports.push(report);
      heard?.();
    },
  });
  process.on("exit", () => child.kill("SIGKILL"));
  return {
    tell: (order) => child.send(order),
    async next() {
      for (;;) {
        const report = reports.shift();
        if (report !== undefined) return report;
        if (child.exitCode !== null || child.killed) throw new Error(`${script} ended with code ${child.exitCode}`);
        const { promise, resolve: wake } = Promise.withResolvers<void>();
        heard = wake;
        await Promise.race([promise, child.exited]);
      }
    },
    freeze: () => child.kill("SIGSTOP"),
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}
