import type { LogEvent } from "../../contract/log/log-event.ts";
import { appendPayload, lengthOf } from "../../contract/messages/append.ts";
import type { MessageAppendEvent } from "../../contract/messages/events.ts";
import { isObject, objectWith } from "../../lib/json/json-values.ts";

type Told = Pick<LogEvent, "kind" | "payload">;

/** A piece of a message that grows, as its event tells it. */
export type ToldPiece = MessageAppendEvent["message_append"];

/** The piece that an event tells; `undefined` if it tells none. */
export function pieceIn({ kind, payload }: Told): ToldPiece | undefined {
  if (kind !== "append") return undefined;
  const told = objectWith(payload, "message_append")?.message_append;
  return isPiece(told) ? told : undefined;
}

function isPiece(told: unknown): told is ToldPiece {
  return isObject(told) && typeof told.id === "string" && typeof told.text === "string";
}

/** Pieces of one message, each of which begins where the one before it ends. They can be told as one. */
export type PieceRun = {
  /** Adds the piece that comes next; `false` if it is not the next one of the message. */
  add(next: ToldPiece): boolean;
  /** The text of the event that tells all of them as one, which ends as the last one does. */
  payload(): string;
};

/** Creates a run of one piece. */
export function createPieceRun(first: ToldPiece): PieceRun {
  const texts = [first.text];
  let last = first;
  let end = first.offset + lengthOf(first.text);
  return {
    add(next) {
      if (next.id !== first.id || next.offset !== end) return false;
      texts.push(next.text);
      end += lengthOf(next.text);
      last = next;
      return true;
    },
    payload: () => appendPayload({ ...last, offset: first.offset, text: texts.join("") }),
  };
}

/** The events, of which pieces of one message with nothing between them are one. */
export function withRunsJoined<Event extends Told>(events: readonly Event[]): Event[] {
  const groups: { last: Event; run: PieceRun | undefined }[] = [];
  for (const event of events) {
    const [before, piece] = [groups.at(-1), pieceIn(event)];
    if (before?.run !== undefined && piece !== undefined && before.run.add(piece)) before.last = event;
    else groups.push({ last: event, run: piece && createPieceRun(piece) });
  }
  return groups.map(({ last, run }) => (run === undefined ? last : { ...last, payload: run.payload() }));
}
