import { z } from "zod";
import { objectWith } from "../../lib/json/json-values.ts";
import { identifier, text } from "../identifiers.ts";
import type { PayloadLimits } from "../limits.ts";
import type { Message, MessageAppendEvent, MessageEvent } from "./events.ts";
import { envelope } from "./messages.ts";

/** How the documents say that a piece has text, unless it is the last. */
const needsText = {
  if: { required: ["text"], properties: { text: { minLength: 1 } } },
  else: { required: ["done"], properties: { done: { const: true } } },
};

/** The body of `PUT /admin/message/append` (api.md, 2.5). */
export function createAppendRequest(limits: PayloadLimits) {
  const messageAppend = z.strictObject({
    id: identifier.meta({ description: "The `server_mid` of the open message." }),
    offset: z.int().nonnegative().meta({
      description: "How long the text is so far, in Unicode code points: the `length` of the last answer.",
    }),
    text: text(0, limits.bodyCharacters).meta({ description: "The text to append. It may be empty with `done`." }),
    done: z.boolean().default(false).meta({ description: "`true` completes the message." }),
  });
  const hasText = ({ text, done }: { text: string; done: boolean }) => text !== "" || done;
  const told = { message: "must not be empty without `done`", path: ["text"] };
  return z
    .strictObject({ ...envelope, messageAppend: messageAppend.refine(hasText, told).meta(needsText) })
    .meta({ id: "AppendRequest" });
}

/** A piece of text to append to an open message. */
export type AppendRequest = z.output<ReturnType<typeof createAppendRequest>>;

/** A line of a stream of pieces, after the first: text, the end, or both. */
export function createAppendLine(limits: PayloadLimits) {
  return z
    .strictObject({ text: text(0, limits.bodyCharacters).default(""), done: z.boolean().default(false) })
    .refine(({ text, done }) => text !== "" || done, { message: "needs `text` or `done`" })
    .meta({ ...needsText, id: "AppendLine" });
}

/** A piece of text that follows what came before. */
export type AppendLine = z.output<ReturnType<typeof createAppendLine>>;

/** The answer to an append. */
export const appendResponse = z
  .strictObject({
    success: z.literal(true),
    length: z.int().nonnegative().meta({
      description: "How long the text is now, in Unicode code points: the `offset` of the next piece.",
    }),
  })
  .meta({ id: "AppendAnswer" });

/** The answer to an append. */
export type AppendResponse = z.infer<typeof appendResponse>;

/** The length of a text in Unicode code points. */
export function lengthOf(value: string): number {
  let length = 0;
  for (const _ of value) length++;
  return length;
}

const offsetDigits = 9;

/** What identifies the piece of a message at an offset, in the order of pieces. */
export function midOfPiece(id: string, offset: number): string {
  return `${id}:${String(offset).padStart(offsetDigits, "0")}`;
}

/** The text of the event that tells a piece. */
export function appendPayload(piece: MessageAppendEvent["message_append"]): string {
  const event: MessageAppendEvent = { message_append: piece };
  return JSON.stringify(event);
}

/** The text of an open message's event with more text, or complete; `undefined` if it is no message. */
export function grownPayload(payload: string, { body, isOpen }: { body: string; isOpen: boolean }): string | undefined {
  const message = objectWith(payload, "message")?.message as Message | undefined;
  if (message === undefined) return undefined;
  const { open: _, ...rest } = message;
  const event: MessageEvent = { message: { ...rest, body, ...(isOpen && { open: true }) } };
  return JSON.stringify(event);
}

/** The body in the text of a message's event; `undefined` if it is no message. */
export function bodyOf(payload: string): string | undefined {
  const message = objectWith(payload, "message")?.message as Message | undefined;
  return message?.body;
}
