import type { Server } from "bun";
import { answerHeaders } from "../../contract/answer-headers.ts";
import { HeraldError } from "../../contract/errors/errors.ts";
import { problemResponse } from "../../contract/errors/problem.ts";
import { isIdentifier, toIso } from "../../contract/identifiers.ts";
import { networkOf } from "../../lib/network/addresses.ts";
import { bearerToken } from "../../lib/network/bearer.ts";
import { createOwner, type Owner, onAbort } from "../../lib/owner.ts";
import { createId } from "../../lib/text/ids.ts";
import type { Session } from "../../services/sessions/sessions.ts";
import { type Arrival, type Connection, clientOf } from "../connections/connection.ts";
import { tellFault } from "../connections/faults.ts";
import type { LineParts } from "../connections/line-parts.ts";
import { answerPreflight } from "../connections/origins.ts";
import { SessionTimer } from "../connections/session-timer.ts";
import { contentOf, type FrameContent } from "../fanout/event-facts.ts";
import type { Topics } from "../fanout/topics.ts";
import { type EventStream, openEventStream } from "./event-stream.ts";
import { encodeForUser, encodePieces, encodeSession } from "./stream-frames.ts";

const takenWithinSeconds = 5;

/** A user's connection over server-sent events. */
type StreamConnection = Connection & EventStream;

/** A request for a stream; `onEnd` is called when the stream ends. */
type Visit = { id: string; arrival: Arrival; onEnd: () => void };

/** Creates the server-sent events side of the gateway. */
export function createStreams(parts: LineParts & { topics: Topics }) {
  const { admission, joiner, topics, register, clientAddress, origins, lastEnds, clock, onError } = parts;

  function createConnection(owner: Owner, session: Session, { onEnd, ...visit }: Visit): StreamConnection {
    let isSlow = false;
    const onCut = () => {
      isSlow = true;
      parts.onCut();
    };
    const stream = openEventStream({ ...parts, onCut }, "sse", { owner, org: session.org, onEnd, encodePieces });
    owner.hold(() => lastEnds.noteEnd(session, { code: undefined, isSlow }));
    const connection = toConnection(stream, session, { ...visit, topics });
    const timer = new SessionTimer(owner, clock, {
      onExpiring: (expiresAt) => stream.push(encodeSession(toIso(expiresAt))),
      onExpired: () => connection.end("bad_token"),
    });
    timer.extend(session.expiresAt);
    return connection;
  }

  /** Resolves once the connection is admitted, to the recovery result that the client is told. */
  function join(connection: StreamConnection, session: Session, since: string | undefined) {
    return new Promise<boolean | undefined>((admit, refuse) => {
      let isAdmitted = false;
      const onAdmitted = (isRecovered: boolean | undefined) => {
        isAdmitted = true;
        admit(isRecovered);
      };
      // A join that ends without admission has lost its client. Nobody gets the response, but it must not stay pending.
      joiner.join(connection, session, since, onAdmitted).then(
        () => admit(undefined),
        (error: unknown) => {
          connection.cut();
          if (isAdmitted) tellFault(error, onError);
          else refuse(error);
        },
      );
    });
  }

  async function answer(request: Request, visit: Visit): Promise<Response> {
    const { id, arrival } = visit;
    const { address } = arrival;
    const owner = createOwner(onError);
    onAbort(request.signal, () => owner.close()); // before anything is taken
    try {
      origins.require(request);
      if (request.method !== "GET")
        throw new HeraldError("method_not_allowed", undefined, { headers: { Allow: "GET" } });
      const since = sinceOf(request);
      await admission.enter(owner, address);
      const session = await admission.admit(owner, bearerToken(request.headers) ?? "", address);
      register.requireOpen();
      const connection = createConnection(owner, session, visit);
      const isRecovered = await join(connection, session, since);
      connection.comment();
      return new Response(connection.body, {
        headers: {
          "Content-Type": "text/event-stream",
          ...answerHeaders,
          "X-Accel-Buffering": "no",
          "X-Request-Id": id,
          ...(isRecovered !== undefined && { "Herald-Recovered": String(isRecovered) }),
        },
      });
    } catch (thrown) {
      owner.close();
      return problemResponse(tellFault(thrown, onError), id);
    }
  }

  return {
    /**
     * Answers `GET /sse`. The session's snapshot precedes the response, so the client receives everything committed after
     * the response.
     */
    async handle(request: Request, server: Server<unknown>): Promise<Response> {
      const id = createId();
      const cors = origins.corsHeaders(request);
      const preflight = answerPreflight(request, cors);
      if (preflight !== undefined) return preflight;
      server.timeout(request, 0);
      const address = networkOf(clientAddress(request, server));
      const arrival = { transport: "sse", address, client: clientOf(request), since: clock.now() } as const;
      const onEnd = () => server.timeout(request, takenWithinSeconds);
      const response = await answer(request, { id, arrival, onEnd });
      // Bun keeps the disabled time-out for later requests on the connection, so there must be none.
      for (const [name, value] of Object.entries({ ...cors, Connection: "close" })) response.headers.set(name, value);
      return response;
    },
  };
}

/** Makes a stream the connection of a session. */
function toConnection(
  stream: EventStream,
  { uid, issuedAt, tokenId }: Session,
  { id, arrival, topics }: Omit<Visit, "onEnd"> & { topics: Topics },
): StreamConnection {
  const joined = new Set<string>();
  const listener = {
    deliver(frame: Uint8Array, content: FrameContent) {
      stream.push(frame, content);
      return stream.isSlow;
    },
  };
  stream.owner.hold(() => {
    for (const topic of joined) topics.streams.remove(topic, listener);
  });
  const ofUser: Pick<Connection, "deliver" | "subscribe" | "unsubscribe"> = {
    deliver(events) {
      for (const event of events) stream.push(encodeForUser(event), contentOf(event));
    },
    subscribe(topic) {
      if (!stream.isOpen) return;
      joined.add(topic);
      topics.streams.add(topic, listener);
    },
    unsubscribe(topic) {
      joined.delete(topic);
      topics.streams.remove(topic, listener);
    },
  };
  return Object.assign(stream, ofUser, { id, uid, issuedAt, tokenId, arrival });
}

/** The last message that the client has: `Last-Event-ID`, or without it `lastEventId`, which polyfills of `EventSource` append. */
function sinceOf({ headers, url }: Request): string | undefined {
  const header = headers.get("last-event-id") || undefined;
  const [, query] = header === undefined ? url.split("?", 2) : [];
  const since = header ?? (new URLSearchParams(query).get("lastEventId") || undefined);
  if (since === undefined || isIdentifier(since)) return since;
  const name = header === undefined ? "lastEventId" : "Last-Event-ID";
  throw new HeraldError("bad_request", `\`${name}\` must be the \`_id\` of a message`);
}
