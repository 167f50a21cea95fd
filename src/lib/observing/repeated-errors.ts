import type { LogFn, Logger } from "pino";

/** Pino's hook through which every line passes before it is written. */
type LogMethod = (this: Logger, args: Parameters<LogFn>, method: LogFn, level: number) => void;

/** Bounds the rate of equal errors in a log. */
export type RepeatedErrors = {
  logMethod: LogMethod;
  /** Writes the counts so far. Called before the process ends. */
  tell(): void;
};

type Repeated = { left: number; tell(left: number): void };

const defaultEveryMs = 10_000;
const mostKinds = 100;
const others = "other errors";

/**
 * Creates the bound: of equal errors, which have the same message and origin, the first is logged in full, and then a line
 * every `everyMs` with how many were left out. An error is logged in full again once it has not occurred for that long. Beyond
 * a hundred kinds within that time, the others are only counted.
 */
export function createRepeatedErrors(everyMs = defaultEveryMs): RepeatedErrors {
  const kinds = new Map<string, Repeated>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function tell(): void {
    for (const [kind, repeated] of kinds) {
      const { left } = repeated;
      if (left === 0) kinds.delete(kind);
      repeated.left = 0;
      if (left > 0) repeated.tell(left);
    }
  }

  function tellLater(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      tell();
      if (kinds.size > 0) tellLater();
    }, everyMs);
    timer.unref(); // a process that ends tells itself
  }

  return {
    logMethod(args, method, level) {
      const error = errorIn(args);
      if (error === undefined) return method.apply(this, args);
      const message = typeof args[1] === "string" ? args[1] : "";
      const own = `${level} ${message} ${kindOf(error)}`;
      const kind = kinds.has(own) || kinds.size < mostKinds ? own : others;
      const known = kinds.get(kind);
      if (known !== undefined) {
        known.left++;
        return;
      }
      const facts = kind === others ? {} : { error: `${error.name}: ${error.message}` };
      const told = kind === others ? "more errors were left out" : `${message} (again)`;
      const summarize = (left: number) => method.call(this, { ...facts, times: left }, told);
      kinds.set(kind, { left: kind === others ? 1 : 0, tell: summarize });
      tellLater();
      if (kind !== others) method.apply(this, args);
    },
    tell,
  };
}

function errorIn([first]: Parameters<LogFn>): Error | undefined {
  if (first instanceof Error) return first;
  const { err } = Object(first);
  return err instanceof Error ? err : undefined;
}

/** What equal errors have in common: their text without numbers and ids, and where they come from. */
function kindOf({ name, message, stack = "" }: Error): string {
  const origin = /^\s+at .*$/m.exec(stack)?.[0] ?? "";
  return `${name} ${message.replaceAll(/[0-9a-f]{8,}|\d+/gi, "#")} ${origin}`;
}
