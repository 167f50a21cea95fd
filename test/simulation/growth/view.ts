import { lengthOf } from "../../../src/contract/messages/append.ts";

/** What a client knows of a message. */
export type Known = { text: string; isOpen: boolean; isEdited: boolean };

/** What a client knows of messages, by id. */
export type View = Map<string, Known>;

/** A listed message, or one in a frame. */
export type Message = { _id: string; body: string; open?: true; edited_at?: string };

type Piece = { id: string; offset: number; text: string; done: boolean };

/** What a client is told of messages. */
export type Frame = {
  message?: Message;
  message_append?: Piece;
  message_edit?: { id: string; body: string };
  message_delete?: { ids: string[] };
};

/** What a list or an event says of a message. */
export function knownOf({ body, open, edited_at }: Message): Known {
  return { text: body, isOpen: open === true, isEdited: edited_at !== undefined };
}

/** Follows a frame as the documentation says: of a piece, only what lies beyond the text is new. Returns the message that has a hole. */
export function follow(view: View, frame: Frame): string | undefined {
  const { message, message_append: piece, message_edit: edit, message_delete: recall } = frame;
  if (message !== undefined) view.set(message._id, knownOf(message));
  const edited = edit && view.get(edit.id);
  if (edit !== undefined && edited !== undefined)
    Object.assign(edited, { text: edit.body, isEdited: true, isOpen: false });
  for (const id of recall?.ids ?? []) view.delete(id);
  return piece === undefined ? undefined : append(view, piece);
}

function append(view: View, { id, offset, text, done }: Piece): string | undefined {
  const known = view.get(id);
  if (known === undefined || known.isEdited) return undefined;
  const length = lengthOf(known.text);
  if (offset > length) return id;
  known.text += [...text].slice(length - offset).join("");
  if (done) known.isOpen = false;
  return undefined;
}

/** What is wrong with a frame, and with which message. */
type Flaw = { id: string; what: string };

/** Watches the frames of one connection. `offsetOf` knows the event of a frame, unless it was made for a recovery. */
export function createFrameWatch(offsetOf: (payload: string) => number | undefined) {
  const ends = new Map<string, { at: number; isDone: boolean }>();
  const gone = new Set<string>();
  let lastOffset = 0;

  function* watchPiece({ id, offset, text, done }: Piece): Iterable<string> {
    const end = ends.get(id);
    if (end?.isDone) yield "comes after its last one";
    else if (end !== undefined && offset < end.at) yield `comes though it has ${end.at} characters`;
    else if (end !== undefined && offset > end.at) yield `comes when it has ${end.at} characters`;
    ends.set(id, { at: offset + lengthOf(text), isDone: done });
  }

  return function* watch(payload: string, frame: Frame): Iterable<Flaw> {
    const { message, message_append: piece, message_edit: edit, message_delete: recall } = frame;
    const mayBeRest = piece !== undefined && !ends.has(piece.id); // which a recovery tells before anything else
    if (message !== undefined) {
      if (ends.has(message._id)) yield { id: message._id, what: "comes again, or after a piece of it" };
      ends.set(message._id, { at: lengthOf(message.body), isDone: message.open !== true });
    }
    if (piece !== undefined)
      for (const what of watchPiece(piece)) yield { id: piece.id, what: `has a piece at ${piece.offset} that ${what}` };
    const about = message?._id ?? piece?.id ?? edit?.id ?? "";
    if (gone.has(about)) yield { id: about, what: "is heard of after its recall" };
    for (const id of recall?.ids ?? []) gone.add(id);
    const offset = offsetOf(payload);
    if (offset === undefined || mayBeRest) return;
    if (offset <= lastOffset) yield { id: about, what: `is told of by event ${offset} after ${lastOffset}` };
    lastOffset = offset;
  };
}
