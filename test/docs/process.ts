import { spawn } from "node:child_process";

/** A command that was started. `stop` interrupts it and everything it started, like Ctrl-C. */
export type Started = {
  readonly output: string;
  readonly ended: Promise<number>;
  /** Resolves when the output matches; rejects with the output if the command ends first or time is up. */
  waitFor(pattern: RegExp, ms: number): Promise<RegExpExecArray>;
  stop(): Promise<number>;
  /** Kills it and its whole process group. */
  kill(): void;
};

/** Starts a command in a process group of its own and collects its output, stdout and stderr alike. */
export function start(command: string[], options: { cwd: string; env: Record<string, string> }): Started {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { ...options, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const watchers = new Set<() => void>();
  let output = "";
  let isOver = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      for (const watch of watchers) watch();
    });
  }
  const ended = new Promise<number>((resolve) => {
    child.on("error", () => resolve(-1));
    child.on("close", (code) => {
      isOver = true;
      for (const watch of watchers) watch();
      resolve(code ?? -1);
    });
  });
  const signal = (name: "SIGINT" | "SIGKILL") => {
    if (child.pid === undefined || isOver) return;
    try {
      process.kill(-child.pid, name);
    } catch {
      // Already gone.
    }
  };

  return {
    get output() {
      return output;
    },
    ended,
    waitFor(pattern, ms) {
      return new Promise((resolve, reject) => {
        const fail = (why: string) => settle(() => reject(new Error(`${why} ${pattern}; it printed:\n${output}`)));
        const timer = setTimeout(() => fail(`${command.join(" ")}: ${ms} ms passed without`), ms);
        const settle = (act: () => void) => {
          clearTimeout(timer);
          watchers.delete(look);
          act();
        };
        const look = () => {
          const match = pattern.exec(output);
          if (match !== null) settle(() => resolve(match));
          else if (isOver) fail(`${command.join(" ")}: ended without`);
        };
        watchers.add(look);
        look();
      });
    },
    kill: () => signal("SIGKILL"),
    async stop() {
      signal("SIGINT");
      const timer = setTimeout(() => signal("SIGKILL"), 8_000);
      const code = await ended;
      clearTimeout(timer);
      return code;
    },
  };
}
