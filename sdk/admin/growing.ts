import { HeraldApiError, HeraldArgumentError } from "../errors.ts";
import type { MessageAppendAnswer, MessageAppendEnvelope } from "../types.ts";
import type { Settings } from "./exchange.ts";
import { callForLines, readLines } from "./lines.ts";

/** A message that is sent while its text is made. */
export type GrowingMessage = {
  /** The `server_mid` of the message. */
  readonly id: string;
  /**
   * Adds text. Resolves as soon as there is room for more, which is when all but 16,384 characters are stored. Rejects with what has
   * ended the message early, as `done` does.
   */
  write(text: string): Promise<void>;
  /** Completes the message. Resolves when all of its text is stored, with its length. */
  done(): Promise<MessageAppendAnswer>;
};

/** How a message is appended to. */
export type Growth = Pick<Settings, "root" | "key" | "fetch" | "timeoutMs"> & {
  /** Makes one append, with the retries of any call. */
  append(envelope: MessageAppendEnvelope): Promise<MessageAppendAnswer>;
  signal?: AbortSignal | undefined;
  resume?: boolean | undefined;
};

/** An open message: whose it is, its id, and the length of its text in code points. */
export type OpenMessage = { organizationId: string; senderId: string; id: string; length: number };

type Answer = Partial<MessageAppendAnswer>;

const mostUnanswered = 16_384; // UTF-16 code units
/** After so many streams in a row that nothing was answered on, something on the way holds the lines back. */
const mostSilent = 3;

/** The path of appends. */
export const appendPath = "/admin/message/append";

/**
 * Lets an open message grow by one request, which every line is answered on. What a stream that breaks leaves unanswered is appended
 * with a single call, from where the server says that the text ends; the next stream follows that.
 */
export function growMessage(message: OpenMessage, { append, signal, resume = false, ...call }: Growth): GrowingMessage {
  const { id } = message;
  let stored = message.length; // code points
  let rest = ""; // what is not known to be stored
  let toLeaveOut = 0; // code points that are stored and still have to be written again
  let isEnding = false;
  let isComplete = false;
  let silent = 0;
  const waiting: (() => void)[] = [];
  const over = new AbortController();

  /** Wakes whoever waits for a change. */
  function tell(): void {
    for (const wake of waiting.splice(0)) wake();
  }

  const untilChange = () => new Promise<void>((resolve) => void waiting.push(resolve));
  const hasMore = () => isEnding || takeable(rest) > 0;

  function envelopeOf(text: string, done: boolean): MessageAppendEnvelope {
    const { organizationId, senderId } = message;
    return { organizationId, senderId, messageAppend: { id, offset: stored, text, ...(done && { done }) } };
  }

  /** Notes that the text is stored up to a length; returns the UTF-16 code units that are stored by that, or -1 if they are not ours. */
  function noteLength(length: number): number {
    const units = length < stored ? -1 : unitsOf(rest, length - stored);
    if (units < 0) return -1;
    rest = rest.slice(units);
    stored = length;
    tell();
    return units;
  }

  /** Leaves out what is written again of the text that is stored. */
  function leaveOut(): void {
    const known = takeable(rest);
    let units = 0;
    for (; toLeaveOut > 0 && units < known; toLeaveOut--) units += widthAt(rest, units);
    rest = rest.slice(units);
  }

  /** Goes on behind text that an earlier process has stored, if that is wished. */
  function resumeAt(length: number): boolean {
    if (!resume || length < stored) return false;
    toLeaveOut += length - stored;
    stored = length;
    leaveOut();
    tell();
    return true;
  }

  /** Sends lines until the stream ends. Why it does is told by the single append that follows. */
  async function stream(): Promise<void> {
    const line = { sent: 0, lines: 0, answered: 0, isLast: false };
    const end = new AbortController();
    const abort = () => end.abort(signal?.reason);
    signal?.addEventListener("abort", abort);
    let late: ReturnType<typeof setTimeout> | undefined;
    const watch = () => {
      clearTimeout(late);
      if (line.answered < line.lines) late = setTimeout(() => end.abort(), call.timeoutMs);
    };

    async function* lines(): AsyncGenerator<Uint8Array, void> {
      while (!line.isLast) {
        while (!end.signal.aborted && !isEnding && takeable(rest) <= line.sent) await untilChange();
        if (end.signal.aborted) return;
        const text = rest.slice(line.sent, isEnding ? rest.length : takeable(rest));
        line.sent += text.length;
        line.isLast = isEnding;
        line.lines++;
        if (line.lines - line.answered === 1) watch();
        const done = line.isLast && { done: true };
        yield encode(line.lines === 1 ? envelopeOf(text, line.isLast) : { ...(text !== "" && { text }), ...done });
      }
    }

    try {
      const bytes = callForLines({
        url: call.root + appendPath,
        method: "PUT",
        key: call.key,
        fetch: call.fetch,
        lines: lines(),
        signal: end.signal,
      });
      for await (const answer of readLines<Answer>(bytes)) {
        if (answer.success !== true || answer.length === undefined) return;
        const units = noteLength(answer.length);
        if (units < 0) return;
        silent = 0;
        line.sent -= units;
        line.answered++;
        watch();
        isComplete = line.isLast && line.answered === line.lines;
        if (isComplete) return;
      }
    } catch {
      signal?.throwIfAborted();
    } finally {
      clearTimeout(late);
      signal?.removeEventListener("abort", abort);
      end.abort();
      tell(); // so that its lines end
    }
  }

  /** Appends what is left with single calls, from where the server says that the text ends. */
  async function appendRest(): Promise<void> {
    while (hasMore() && !isComplete) {
      const done = isEnding;
      const text = done ? rest : rest.slice(0, takeable(rest));
      try {
        noteLength((await append(envelopeOf(text, done))).length);
        isComplete = done;
      } catch (error) {
        if (!(error instanceof HeraldApiError) || error.code !== "append_conflict") throw error;
        const { length = 0 } = error;
        // All of it is there, and nothing fits any more: an earlier attempt has completed it.
        if (done && text === "" && length === stored) isComplete = true;
        else if (length === stored || (noteLength(length) < 0 && !resumeAt(length))) throw error;
      }
      if (!done) return;
    }
  }

  async function run(): Promise<MessageAppendAnswer> {
    while (!isComplete) {
      while (!hasMore()) {
        signal?.throwIfAborted();
        await untilChange();
      }
      if (silent < mostSilent) {
        silent++;
        await stream();
      }
      await appendRest();
    }
    return { success: true, length: stored };
  }

  signal?.addEventListener("abort", tell, { signal: over.signal });
  const end = run().finally(() => {
    over.abort();
    tell();
  });
  end.catch(() => undefined); // `write` and `done` tell it

  async function write(text: string): Promise<void> {
    rest += text;
    leaveOut();
    tell();
    while (rest.length > mostUnanswered && !over.signal.aborted) await untilChange();
    if (over.signal.aborted) await end;
  }

  return {
    id,
    write(text) {
      const written = isEnding
        ? Promise.reject(new HeraldArgumentError("After done(), nothing is added."))
        : write(text);
      written.catch(() => undefined); // for those who only wait for `done`
      return written;
    },
    async done() {
      isEnding = true;
      tell();
      return await end;
    },
  };
}

/** How many UTF-16 code units of a text can be sent: half of a surrogate pair waits for the other half. */
function takeable(text: string): number {
  return /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
}

/** How many UTF-16 code units so many code points at the beginning of a text take; -1 if the text is shorter. */
function unitsOf(text: string, codePoints: number): number {
  let units = 0;
  for (let left = codePoints; left > 0; left--) {
    if (units >= text.length) return -1;
    units += widthAt(text, units);
  }
  return units;
}

/** How many UTF-16 code units the code point at a place takes. */
function widthAt(text: string, units: number): number {
  return (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
}

function encode(line: object): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(line)}\n`);
}
