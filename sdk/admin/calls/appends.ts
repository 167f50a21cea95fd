import { HeraldArgumentError } from "../../errors.ts";
import type { MessageAnswer, MessageAppendAnswer, MessageAppendEnvelope, MessageEnvelope } from "../../types.ts";
import type { CallOptions, Request, Settings } from "../exchange.ts";
import { appendPath, type GrowingMessage, growMessage } from "../growing.ts";
import type { Values } from "../lines.ts";

type Send = (envelope: MessageEnvelope, options: CallOptions) => Promise<MessageAnswer>;

/** How a message that grows is sent. */
export type StreamOptions = CallOptions & {
  /**
   * Goes on with a message that an earlier attempt, such as a process that has died, began with the same `message.id` and content. Write
   * the text again from its beginning: as much as is stored is left out, by its length alone. It needs the `message.id`.
   */
  resume?: boolean;
};

/** Creates the calls that let messages grow. `send` sends a message, with an id of its own. */
export function createAppendCalls(request: Request, send: Send, settings: Settings) {
  async function append(envelope: MessageAppendEnvelope, options: CallOptions = {}): Promise<MessageAppendAnswer> {
    return request("PUT", appendPath, envelope, options);
  }

  async function stream(
    envelope: MessageEnvelope,
    { resume = false, ...options }: StreamOptions = {},
  ): Promise<GrowingMessage> {
    const { organizationId, senderId, message } = envelope;
    if (resume && message.id === undefined)
      throw new HeraldArgumentError("resume needs the message.id of the first attempt.");
    const { ask } = await send({ ...envelope, message: { ...message, open: true } }, options);
    const open = { organizationId, senderId, id: ask.server_mid, length: [...(message.body ?? "")].length };
    return growMessage(open, { ...settings, ...options, resume, append: (piece) => append(piece, options) });
  }

  return {
    /**
     * Appends text to a message that was sent with `open`, or completes it. Resolves when it is stored; the same piece again changes
     * nothing. A piece at another offset rejects with 409 `append_conflict`, and the error has the `length` to go on from.
     */
    append,
    /**
     * Sends a message that is not complete, and returns what adds to its text: `write` text as it comes, then call `done`. A connection
     * that breaks is made again with the retries of any call, and the text goes on where it was stored. When `signal` breaks it off,
     * the message stays open, until ten minutes of silence complete it as it is. With `resume`, a later attempt goes on with it.
     */
    stream,
    /**
     * Sends a message whose text comes in pieces, such as a model's answer, and resolves when it is complete: with its `id`, its
     * `server_mid`. Pieces are taken no faster than they are stored. If `pieces` throws, the message is completed as it is.
     */
    async pipe(
      pieces: Values<string>,
      envelope: MessageEnvelope,
      options: StreamOptions = {},
    ): Promise<MessageAppendAnswer & { id: string }> {
      const source = begin(pieces);
      const growing = await stream(envelope, options).catch((error: unknown) => {
        source.close();
        throw error;
      });
      try {
        for await (const piece of source.pieces) await growing.write(piece);
      } catch (error) {
        await growing.done().catch(() => undefined); // `error` is the reason
        throw error;
      }
      return { id: growing.id, ...(await growing.done()) };
    },
  };
}

/**
 * Asks for the first piece at once: a source that is fed by events, such as a model's, keeps nothing for whoever listens later. `close`
 * ends a source that nothing is read from.
 */
function begin(pieces: Values<string>): { pieces: Values<string>; close(): void } {
  if (!(Symbol.asyncIterator in pieces)) return { pieces, close: () => undefined };
  const iterator = pieces[Symbol.asyncIterator]();
  const first = iterator.next();
  first.catch(() => undefined); // `rest` tells it

  async function* rest(): AsyncGenerator<string, void> {
    try {
      for (let step = await first; step.done !== true; step = await iterator.next()) yield step.value;
    } finally {
      await iterator.return?.();
    }
  }

  return { pieces: rest(), close: () => void iterator.return?.().catch(() => undefined) };
}
