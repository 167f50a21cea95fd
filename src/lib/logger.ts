import { type DestinationStream, type Logger, pino } from "pino";
import pretty from "pino-pretty";

/** JSON lines on stdout; on a terminal, lines for people. */
export function createLogger(level: string): Logger {
  const options = { level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` };
  return pino(options, process.stdout.isTTY ? prettyStream() : pino.destination({ dest: 1, sync: true }));
}

// A stream in this process and no pino transport: those run in a worker, which a compiled binary cannot load.
function prettyStream(): DestinationStream {
  return pretty({
    colorize: process.env.NO_COLOR === undefined,
    translateTime: "HH:MM:ss.l",
    ignore: "pid,hostname,method,route,status,duration_ms",
    messageFormat: ({ msg, method, route, status, duration_ms: took }) =>
      route === undefined ? String(msg) : `${method} ${route} ${status} in ${took} ms`,
    singleLine: true,
    sync: true,
  });
}
