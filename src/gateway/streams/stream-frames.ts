import type { LogEvent } from "../../contract/messages/log-event.ts";

type StreamedEvent = Pick<LogEvent, "kind" | "id" | "payload">;

/** Events as server-sent event streams carry them, each made once for all who hear it at the same time. */
export type StreamFrames = {
  /** For the streams of users: the `id:` of a message is its `_id`, with which the client goes on later. */
  forUsers(event: StreamedEvent): Uint8Array;
  /** For feeds, where each event has the `id:` that is its `_id`. */
  forFeeds(event: StreamedEvent): Uint8Array;
};

/** Keeps the frame of the event that was asked for last. */
export function createStreamFrames(): StreamFrames {
  return { forUsers: lastOf(encodeForUser), forFeeds: lastOf(encodeForFeed) };
}

/** An event as the stream of a user carries it. */
export function encodeForUser({ kind, id, payload }: StreamedEvent): Uint8Array {
  return kind === "message" ? encode("message", id, payload) : encode("system_message", undefined, payload);
}

function encodeForFeed({ kind, id, payload }: StreamedEvent): Uint8Array {
  if (kind === "message") return encode("message", id, payload);
  const event: { system_message: { _id: string } } = JSON.parse(payload);
  return encode("system_message", event.system_message._id, payload);
}

const encoder = new TextEncoder();

/** An event of a stream (WHATWG HTML, section 9.2.6). JSON text holds no line breaks, so one `data:` line is enough. */
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
