import type { EventKind, LogEvent } from "../../contract/log/log-event.ts";

type StreamedEvent = Pick<LogEvent, "kind" | "id" | "payload">;

/** Events encoded as server-sent events, each once for all who hear it at the same time. */
export type StreamFrames = {
  /** For users' streams: the `id:` of a message is its `_id`, from which the client can resume. */
  forUsers(event: StreamedEvent): Uint8Array;
  /** For feeds: the `id:` of every event that has an `_id`. */
  forFeeds(event: StreamedEvent): Uint8Array;
};

/** Caches the frame of the last event. */
export function createStreamFrames(): StreamFrames {
  return { forUsers: lastOf(encodeForUser), forFeeds: lastOf(encodeForFeed) };
}

/** Encodes an event for a user's stream. */
export function encodeForUser({ kind, id, payload }: StreamedEvent): Uint8Array {
  return encode(nameOf(kind), kind === "message" ? id : undefined, payload);
}

function encodeForFeed({ kind, id, payload }: StreamedEvent): Uint8Array {
  if (kind !== "system") return encodeForUser({ kind, id, payload });
  const event: { system_message: { _id: string } } = JSON.parse(payload);
  return encode(nameOf(kind), event.system_message._id, payload);
}

/** What an event is called in a stream: the top-level key of its payload. */
function nameOf(kind: EventKind): string {
  if (kind === "system") return "system_message";
  return kind === "read" ? "message_read" : kind;
}

const encoder = new TextEncoder();

/** Encodes an event (WHATWG HTML, section 9.2.6). JSON text contains no line breaks, so one `data:` line is enough. */
function encode(event: string, id: string | undefined, payload: string): Uint8Array {
  return encoder.encode(`event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${payload}\n\n`);
}

function lastOf(make: (event: StreamedEvent) => Uint8Array): (event: StreamedEvent) => Uint8Array {
  let last: { event: StreamedEvent; frame: Uint8Array } | undefined;
  return (event) => {
    if (last?.event !== event) last = { event, frame: make(event) };
    return last.frame;
  };
}
