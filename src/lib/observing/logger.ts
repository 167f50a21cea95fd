import { type DestinationStream, type Logger, pino } from "pino";
import pretty from "pino-pretty";
import { createLineOutput, writeTo } from "./line-output.ts";

const errorLevel = 50;
const warnLevel = 40;
const stdout = 1;
const maxWaitingBytes = 1_048_576;

/** How lines of one kind read on a terminal: as `textOf` says, unless that is `undefined`, and without the `facts` that it tells. */
export type LineSummary = { facts: string[]; textOf(line: Record<string, unknown>): string | undefined };

const noSummary: LineSummary = { facts: [], textOf: () => undefined };

/** JSON lines on stdout; on a terminal, lines for people. `redact` is given each line, and what it gives is written. */
export function createLogger(level: string, redact: (line: string) => string, summary = noSummary): Logger {
  const options = { level, base: null, timestamp: () => `,"time":"${now()}"` };
  return pino(options, process.stdout.isTTY ? prettyStream(redact, summary) : gatheringStream(redact));
}

const now = () => new Date().toISOString();

function tellLost(lines: number): string {
  const msg = "lines of the log were left out, since nobody took them in time";
  return `${JSON.stringify({ level: warnLevel, time: now(), lines, msg })}\n`;
}

/** Writes the lines of a turn of the event loop together, since a system call takes as long as a good part of a request; errors at once, and all when the logger is flushed. */
function gatheringStream(redact: (line: string) => string): DestinationStream {
  const output = createLineOutput({ writeSome: writeTo(stdout), maxBytes: maxWaitingBytes, tellLost });
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
    [Symbol.for("pino.metadata")]: true, // asks pino for `lastLevel`
    lastLevel: 0,
    flush,
    write(line: string) {
      if (lines === "") setImmediate(flush);
      lines += redact(line);
      if (stream.lastLevel >= errorLevel) flush();
    },
  };
  return stream;
}

// A stream in this process and no pino transport: those run in a worker, which a compiled binary cannot load.
function prettyStream(redact: (line: string) => string, { facts, textOf }: LineSummary): DestinationStream {
  const stream = pretty({
    colorize: process.env.NO_COLOR === undefined,
    translateTime: "HH:MM:ss.l",
    ignore: ["pid", "hostname", ...facts].join(","),
    messageFormat: (line) => textOf(line) ?? String(line.msg),
    singleLine: true,
    sync: true,
  });
  return { write: (line) => void stream.write(redact(line)) };
}
