import { commandLine, type RunOptions } from "./run-herald.ts";

/** What a command showed on a terminal, without the carriage returns of its lines, and how it ended. */
export type Shown = { code: number; text: string };

/**
 * Runs `herald` on a pseudo-terminal of `columns`. Each of `answers` is typed once the text before it has been shown since the
 * answer before.
 */
export async function runOnTerminal(
  args: string[],
  {
    columns = 80,
    answers = [],
    ...options
  }: RunOptions & { columns?: number; answers?: [shown: string, typed: string][] } = {},
): Promise<Shown> {
  const { command, env, cwd } = commandLine(args, options);
  const decoder = new TextDecoder();
  const left = [...answers];
  let text = "";
  let readTo = 0;
  const child = Bun.spawn(command, {
    env: { ...env, TERM: "xterm" },
    cwd,
    terminal: {
      cols: columns,
      rows: 24,
      data(terminal, bytes) {
        text += decoder.decode(bytes, { stream: true });
        const [next] = left;
        if (next === undefined || !text.slice(readTo).includes(next[0])) return;
        readTo = text.length;
        left.shift();
        terminal.write(next[1]);
      },
    },
  });
  const code = await child.exited;
  child.terminal?.close();
  return { code, text: text.replaceAll("\r\n", "\n") };
}
