import type { Session } from "../../services/sessions/sessions.ts";
import type { Connection } from "../connections/connection.ts";
import { messageIn } from "../fanout/event-facts.ts";
import type { Topics } from "../fanout/topics.ts";
import type { EventStream } from "./event-stream.ts";
import { encodeForUser } from "./stream-frames.ts";

type Options = { id: string; session: Session; stream: EventStream; topics: Topics };

/** A user's connection over server-sent events. */
export type StreamConnection = Connection & Pick<EventStream, "body" | "comment">;

/** Creates the connection of a session whose events go to a stream. */
export function createStreamConnection({ id, session, stream, topics }: Options): StreamConnection {
  const { owner } = stream;
  const joined = new Set<string>();
  const listener = {
    deliver(frame: Uint8Array, message: string | undefined) {
      stream.push(frame, message);
      return stream.isSlow;
    },
  };
  owner.hold(() => {
    for (const topic of joined) topics.removeStream(topic, listener);
  });

  return {
    id,
    org: session.org,
    uid: session.uid,
    issuedAt: session.issuedAt,
    tokenId: session.tokenId,
    owner,
    get isOpen() {
      return stream.isOpen;
    },
    deliver(events) {
      for (const event of events) stream.push(encodeForUser(event), messageIn(event));
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
    withdraw: stream.withdraw,
    get takings() {
      return stream.takings;
    },
    waitingBytes: stream.waitingBytes,
    body: stream.body,
    comment: stream.comment,
  };
}
