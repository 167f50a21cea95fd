import type { ListedMessage, MessageAppend } from "../types.ts";

type Growing = Pick<ListedMessage<unknown>, "body" | "open"> & { isOpen?: true };

const lengths = new WeakMap<object, number>(); // in code points, of messages that pieces have made

function lengthOf(message: Growing): number {
  return lengths.get(message) ?? [...message.body].length;
}

/**
 * An open message with a piece of its text. The same message if the piece says nothing new, as to one that is complete; `undefined`
 * if text before the piece is missing.
 */
export function withPiece<Message extends Growing>(message: Message, piece: MessageAppend): Message | undefined {
  if (!message.open) return message;
  const known = lengthOf(message) - piece.offset;
  if (known < 0) return undefined;
  const text = known > 0 ? [...piece.text].slice(known).join("") : piece.text;
  if (!text && !piece.done) return message;
  const grown = { ...message, body: message.body + text };
  lengths.set(grown, lengthOf(message) + [...text].length);
  return piece.done ? withoutMarks(grown) : grown;
}

/** An open message with the text of another copy of it, if that is longer or complete. */
export function withTextOf<Message extends Growing>(message: Message, { body, open }: Growing): Message {
  if (!message.open || (open && body.length <= message.body.length)) return message;
  const grown = { ...message, body };
  return open ? grown : withoutMarks(grown);
}

function withoutMarks<Message extends Growing>(message: Message): Message {
  delete message.open;
  delete message.isOpen;
  return message;
}
