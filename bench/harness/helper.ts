import { resolve } from "node:path";

/** A script of the bench in a process of its own, which takes orders and reports, one message after another. */
export type Helper<Order, Report> = {
  tell(order: Order): void;
  /** The next report that nobody has taken. Rejects when the process has ended. */
  next(): Promise<Report>;
  stop(): Promise<void>;
};

/** Starts `bench/<script>`, whose messages are `Report`s: the types are that script's promise. With `niceness` others come first (nice(1)). */
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
