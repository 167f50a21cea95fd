import { type DestinationStream, type Logger, pino } from "pino";
import { prettyFactory } from "pino-pretty";
import { createLineOutput, type LineOutput, openTerminal, writeTo } from "./line-output.ts";
import { createRepeatedErrors } from "./repeated-errors.ts";

const errorLevel = 50;
const warnLevel = 40;
const stdout = 1;
const maxWaitingBytes = { pipe: 1_048_576, terminal: 131_072 };

/** How a terminal shows one kind of line: as `textOf` says, without the `facts` in that text, or unchanged if it is `undefined`. */
export type LineSummary = { facts: string[]; textOf(line: Record<string, unknown>): string | undefined };

const noSummary: LineSummary = { facts: [], textOf: () => undefined };

type LogOptions = {
  summary?: LineSummary;
  /** Called with the number of lines that were dropped because nobody reads them. */
  onLost?(lines: number): void;
};

/**
 * Creates a logger that writes JSON lines to stdout, or human-readable lines to a terminal. Each line passes through
 * `redact`. Of equal errors, only the first is written in full, and then how many there are. Whether or not anybody
 * reads the lines, none waits.
 */
export function createLogger(
  level: string,
  redact: (line: string) => string,
  { summary = noSummary, onLost = () => undefined }: LogOptions = {},
): Logger {
  const { logMethod, tell } = createRepeatedErrors();
  process.on("exit", tell); // before the lines that wait are written at the end
  const options = { level, base: null, timestamp: () => `,"time":"${now()}"`, hooks: { logMethod } };
  const { isTTY } = process.stdout;
  const show = isTTY ? createPretty(summary) : (line: string) => line;
  const output = createLineOutput({
    writeSome: writeTo(isTTY ? openTerminal(stdout) : stdout),
    maxBytes: maxWaitingBytes[isTTY ? "terminal" : "pipe"],
    tellLost: (lines) => show(tellLost(lines)),
    onLost,
  });
  return pino(
    options,
    gatheringStream(output, (line) => show(redact(line))),
  );
}

const now = () => new Date().toISOString();

function tellLost(lines: number): string {
  const msg = "log lines were dropped because they were not read in time";
  return `${JSON.stringify({ level: warnLevel, time: now(), lines, msg })}\n`;
}

/**
 * Writes the lines of one turn of the event loop together, as a system call takes a good part of a request's time;
 * errors are written at once, and everything when the logger is flushed.
 */
function gatheringStream(output: LineOutput, show: (line: string) => string): DestinationStream {
  let lines = "";
  function flush(): void {
    const gathered = lines;
    lines = "";
    if (gathered !== "") output.write(gathered);
  }
  process.on("exit", () => {
    flush();
    output.drain();
  });
  const stream = {
    [Symbol.for("pino.metadata")]: true, // makes pino set `lastLevel`
    lastLevel: 0,
    flush,
    write(line: string) {
      if (lines === "") setImmediate(flush);
      lines += show(line);
      if (stream.lastLevel >= errorLevel) flush();
    },
  };
  return stream;
}

// In this process instead of a pino transport, which runs in a worker that a compiled binary cannot load.
function createPretty({ facts, textOf }: LineSummary): (line: string) => string {
  return prettyFactory({
    colorize: process.env.NO_COLOR === undefined,
    translateTime: "HH:MM:ss.l",
    ignore: ["pid", "hostname", ...facts].join(","),
    messageFormat: (line) => textOf(line) ?? String(line.msg),
    singleLine: true,
  });
}
