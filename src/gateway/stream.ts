import type { LogEvent } from "../contract/log-event.ts";
import type { Session } from "../services/sessions.ts";
import type { Connection } from "./connection.ts";
import { createEventStream, type EventStream, eventText } from "./event-stream.ts";
import type { Listener } from "./listeners.ts";
import type { Topics } from "./topics.ts";

/** A connection over server-sent events. */
export type StreamConnection = Connection & Listener & Pick<EventStream, "body" | "comment">;

type Options = {
  id: string;
  session: Session;
  topics: Topics;
  maxWaitingBytes: number;
  /** Called when it is cut while bytes wait for its reader. */
  onCut(): void;
  onClose(): void;
};

/** A connection that hands out what waits as fast as the client takes it, and is cut when more than `maxWaitingBytes` wait. */
export function createStreamConnection(options: Options): StreamConnection {
  const { id, session, topics, maxWaitingBytes, onCut, onClose } = options;
  const joined = new Set<string>();
  const stream = createEventStream({
    maxWaitingBytes,
    onCut,
    onClose() {
      for (const topic of joined) topics.removeStream(topic, listener);
      onClose();
    },
  });

  const listener = {
    deliver(event: LogEvent) {
      connection.deliver([event]);
      return stream.isSlow;
    },
  };

  const connection: StreamConnection = {
    id,
    org: session.org,
    uid: session.uid,
    issuedAt: session.issuedAt,
    body: stream.body,
    get isOpen() {
      return stream.isOpen;
    },
    deliver(events) {
      for (const { kind, payload } of events)
        stream.push(kind === "message" ? messageText(payload) : eventText("system_message", undefined, payload));
    },
    isReadyForMore: stream.isReadyForMore,
    subscribe(topic) {
      if (!stream.isOpen) return;
      joined.add(topic);
      topics.addStream(topic, listener);
    },
    unsubscribe(topic) {
      joined.delete(topic);
      topics.removeStream(topic, listener);
    },
    end: stream.end,
    cut: stream.cut,
    waitingBytes: stream.waitingBytes,
    comment: stream.comment,
  };
  return connection;
}

/** The `id:` of a message is its `_id`, with which the client goes on later. */
function messageText(payload: string): string {
  const event: { message: { _id: string } } = JSON.parse(payload);
  return eventText("message", event.message._id, payload);
}
