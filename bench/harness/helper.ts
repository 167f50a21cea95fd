import { resolve } from "node:path";

/** A bench script in a process of its own, which takes orders and reports, one message at a time. */
export type Helper<Order, Report> = {
  tell(order: Order): void;
  /** The next unread report. Rejects if the process has ended. */
  next(): Promise<Report>;
  stop(): Promise<void>;
};

/**
 * Starts `bench/<script>`, which sends `Report`s; its types are the script's promise. With `niceness`, other processes
 * have priority (nice(1)).
 */
export function startHelper<Order, Report>(script: string, niceness = 0): Helper<Order, Report> {
  const reports: Report[] = [];
  let heard: (() => void) | undefined;
  const nice = niceness === 0 ? [] : ["nice", "-n", String(niceness)];
  const child = Bun.spawn([...nice, process.execPath, resolve(import.meta.dir, "../processes", script)], {
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
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}
