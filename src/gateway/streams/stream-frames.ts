import { eventNameOf } from "../../contract/connections/event-names.ts";
import type { EventKind, LogEvent } from "../../contract/log/log-event.ts";
import { cursorOf, type LogPlace } from "../../contract/log/log-place.ts";
import { blankedPayload } from "../../contract/messages/changes.ts";
import { createLastMade } from "../../lib/caches/last-made.ts";
import type { HeardEvent } from "../fanout/event-facts.ts";

/** Caches the frame of the last event. */
export function createStreamFrames() {
  const users = createLastMade(encodeForUser);
  const feeds = createLastMade(encodeForFeed);
  return {
    /** For users' streams: the `id:` of a message is its `_id`, from which the client can resume. */
    forUsers: users.of,
    /** For feeds: the `id:` is the cursor of the event. */
    forFeeds: feeds.of,
    /** Drops what is cached. */
    forget(): void {
      users.forget();
      feeds.forget();
    },
  };
}

/** Events encoded as server-sent events, each once for all streams that it is played to. */
export type StreamFrames = ReturnType<typeof createStreamFrames>;

/**
 * Encodes an event for a user's stream. Only messages have an `id:`, as a client can resume only after a message; after an edit
 * or a recall, it resumes after the last message before it, and receives the change again.
 */
export function encodeForUser({ kind, id, payload }: HeardEvent): Uint8Array {
  return encode(kind, kind === "message" ? id : undefined, payload);
}

/** Encodes pieces of a message that are told as one, for a user's stream. */
export function encodePieces(payload: string): Uint8Array {
  return encode("append", undefined, payload);
}

function encodeForFeed(event: HeardEvent & Pick<LogEvent, "offset">): Uint8Array {
  return encode(event.kind, cursorOf(event), event.payload);
}

/** What is left of the frame of a feed without what its event says: the blanked message, or for an edit its cursor. */
export function blankFeedFrame(frame: Uint8Array): Uint8Array {
  const [name = "", id = "", data = ""] = decoder.decode(frame).split("\n");
  const payload = blankedPayload(data.slice(dataField.length));
  return encoder.encode(payload === undefined ? `:\n${id}\n\n` : `${name}\n${id}\n${dataField}${payload}\n\n`);
}

/** Encodes a comment that moves the cursor of a feed, for events that it does not show. */
export function encodePlace(place: LogPlace): Uint8Array {
  return encoder.encode(place.id === undefined ? ":\n\n" : `:\nid: ${cursorOf(place)}\n\n`);
}

/** Encodes the event that a session is about to expire. */
export function encodeSession(expiresAt: string): Uint8Array {
  return encoder.encode(`event: session\ndata: ${JSON.stringify({ session: { expires_at: expiresAt } })}\n\n`);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const dataField = "data: ";

/** Encodes an event (WHATWG HTML, section 9.2.6). JSON text contains no line breaks, so one `data:` line is enough. */
function encode(kind: EventKind, id: string | undefined, payload: string): Uint8Array {
  return encoder.encode(
    `event: ${eventNameOf(kind)}\n${id === undefined ? "" : `id: ${id}\n`}${dataField}${payload}\n\n`,
  );
}
