import { HeraldError, invalidRequest, toHeraldError } from "../../contract/errors/errors.ts";
import { type ProblemForm, problemDocument } from "../../contract/errors/problem.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import {
  type AppendLine,
  type AppendResponse,
  createAppendLine,
  createAppendRequest,
  lengthOf,
} from "../../contract/messages/append.ts";
import { parseStrictJson, validate } from "../../contract/requests.ts";
import type { Caller } from "../keys/permissions.ts";
import { requestCosts } from "../limits/costs.ts";
import type { LineBlock } from "../transfer/imports.ts";
import type { Appends, Target } from "./appends.ts";

/** What a stream may ask of its call. */
export type StreamCall = {
  requestId: string;
  /** Charges requests; resolves once the limits allow more, and rejects with `rate_limited` if that takes longer than `withinMs`. */
  pay(cost: number, options: { org: string | undefined; withinMs: number }): Promise<void>;
  /** Checks again whether the key is valid; rejects if not. */
  permit(): Promise<void>;
};

/** Appends line by line. */
export type AppendStreams = ReturnType<typeof createAppendStreams>;

type Dependencies = {
  appends: Pick<Appends, "find" | "appendTo">;
  limits: PayloadLimits;
  onError(error: unknown, requestId: string): void;
  problemForm?: ProblemForm;
};

const mayWaitMs = 10_000; // less than an idle connection may

/** Creates streams of pieces, which are stored one after the other: what arrives while one is stored becomes the next one. */
export function createAppendStreams({ appends, limits, onError, problemForm }: Dependencies) {
  const first = createAppendRequest(limits);
  const following = createAppendLine(limits);

  return {
    /**
     * Reads the first line and stores it, and then answers each line as soon as it is stored. A line that is refused ends the answer
     * with its problem. Throws what a single request would be refused with, if that is the first line.
     */
    async open(
      caller: Caller,
      blocks: AsyncGenerator<LineBlock, void>,
      call: StreamCall,
    ): Promise<AsyncGenerator<string, void>> {
      const lines = linesOf(blocks);
      try {
        const line = await lines.next();
        if (line.done === true) throw invalidRequest("", "must begin with a line as of a single append");
        const { messageAppend, ...request } = validate(first, parseStrictJson(textOf(line.value), limits.jsonDepth));
        await call.pay(1, { org: request.organizationId, withinMs: mayWaitMs });
        const target = await appends.find(caller, { ...request, messageAppend });
        const { body } = await appends.appendTo(target, messageAppend);
        return answersOf({ target, call, lines, done: messageAppend.done }, body);
      } catch (error) {
        await lines.return(); // so that others can read the rest
        throw error;
      }
    },
  };

  type Run = { target: Target; call: StreamCall; lines: AsyncGenerator<string | HeraldError, void>; done: boolean };

  async function* answersOf({ target, call, lines, done }: Run, stored: AppendResponse): AsyncGenerator<string, void> {
    const waiting = createWaiting(lines, (text) => validate(following, parseStrictJson(text, limits.jsonDepth)));
    let length = stored.length;
    let isDone = done;
    try {
      yield textOfAnswer(stored);
      while (!isDone) {
        const pieces = await waiting.take();
        if (pieces.length === 0) return;
        const text = pieces.map((piece) => piece.text).join("");
        isDone = pieces.some((piece) => piece.done);
        await call.permit();
        await call.pay(1 + requestCosts.bytes(Buffer.byteLength(text)), { org: target.org, withinMs: mayWaitMs });
        await appends.appendTo(target, { offset: length, text, done: isDone });
        let answers = "";
        for (const piece of pieces) {
          length += lengthOf(piece.text);
          answers += textOfAnswer({ success: true, length });
        }
        yield answers;
      }
    } catch (thrown) {
      const error = toHeraldError(thrown);
      if (error.status === 500) onError(thrown, call.requestId);
      yield `${JSON.stringify(problemDocument(error, call.requestId, problemForm))}\n`;
      await waiting.dropRest();
    } finally {
      lines.return().catch(() => undefined); // not awaited, as the caller may not send any more
    }
  }
}

const textOfAnswer = (answer: AppendResponse) => `${JSON.stringify(answer)}\n`;

function textOf(line: string | HeraldError): string {
  if (typeof line === "string") return line;
  throw line;
}

/** The lines that are not blank. A caller that breaks off ends them: what arrived is stored. */
async function* linesOf(blocks: AsyncGenerator<LineBlock, void>): AsyncGenerator<string | HeraldError, void> {
  try {
    for await (const { lines } of blocks)
      for (const line of lines) if (typeof line !== "string" || line.trim() !== "") yield line;
  } catch (cause) {
    yield new HeraldError("bad_request", "the request broke off; go on from `length`", { cause });
  }
}

const mostWaiting = 64 * 1024; // characters
const lingering = { characters: 1024 * 1024, ms: 1_000 };

/** Reads lines ahead while a piece is stored. */
function createWaiting(lines: AsyncGenerator<string | HeraldError, void>, read: (text: string) => AppendLine) {
  let pieces: AppendLine[] = [];
  let characters = 0;
  let dropped = 0;
  let isDropping = false;
  let failure: unknown;
  let isOver = false;
  let wake: () => void = () => undefined;
  let makeRoom: () => void = () => undefined;

  /** Keeps what a line appends, and waits until there is room for the next one. */
  async function keep(piece: AppendLine): Promise<void> {
    pieces.push(piece);
    characters += piece.text.length;
    wake();
    if (!piece.done && characters >= mostWaiting) await new Promise<void>((resolve) => (makeRoom = resolve));
  }

  /** Reads the lines up to the last piece; behind one that is refused, drops a bounded number of characters. */
  async function follow(): Promise<void> {
    for await (const line of lines) {
      if (isDropping) {
        dropped += typeof line === "string" ? line.length : lingering.characters;
        if (dropped >= lingering.characters) return;
        continue;
      }
      try {
        const piece = read(textOf(line));
        await keep(piece);
        if (piece.done) return;
      } catch (error) {
        failure = error;
        isDropping = true;
        wake();
      }
    }
  }

  const following = follow().finally(() => {
    isOver = true;
    wake();
  });

  return {
    /** All that has arrived, at least one; none at the end. Throws if a line is refused, after those before it. */
    async take(): Promise<AppendLine[]> {
      while (pieces.length === 0 && failure === undefined && !isOver)
        await new Promise<void>((resolve) => (wake = resolve));
      const taken = pieces;
      pieces = [];
      characters = 0;
      makeRoom();
      if (taken.length === 0 && failure !== undefined) throw failure;
      return taken;
    },
    /** Reads on for a moment: a caller that is still writing when its connection is closed may not see why. */
    async dropRest(): Promise<void> {
      isDropping = true;
      makeRoom();
      await Promise.race([following, Bun.sleep(lingering.ms)]);
    },
  };
}
