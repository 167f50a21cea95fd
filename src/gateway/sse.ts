import type { Server } from "bun";
import { answerHeaders } from "../contract/answer-headers.ts";
import { HeraldError, toHeraldError, unavailable } from "../contract/errors.ts";
import { isIdentifier } from "../contract/identifiers.ts";
import { problemResponse } from "../contract/problem.ts";
import { networkOf } from "../lib/addresses.ts";
import type { ClientAddress } from "../lib/client-address.ts";
import type { Clock } from "../lib/clock.ts";
import type { Counters } from "../lib/counters.ts";
import { createId } from "../lib/ids.ts";
import { spread } from "../lib/spread.ts";
import type { Session, Sessions } from "../services/sessions.ts";
import { bearerToken } from "./bearer.ts";
import type { Joiner } from "./join.ts";
import { type Listener, tooManyConnections } from "./listeners.ts";
import { answerPreflight, type Origins } from "./origins.ts";
import { createSessionTimer } from "./session-timer.ts";
import { createStreamConnection, type StreamConnection } from "./stream.ts";
import type { Topics } from "./topics.ts";

type Dependencies = {
  sessions: Sessions;
  joiner: Joiner;
  topics: Topics;
  perUser: Counters;
  perAddress: Counters;
  clientAddress: ClientAddress;
  origins: Origins;
  limits: { backlogBytes: number; pingMs: number; connectionsPerUser: number; connectionsPerAddress: number };
  clock: Clock;
  steadyClock: Clock;
  /** Called when a stream ends whose reader did not take what waited for it. */
  onCut(): void;
  onError(error: unknown): void;
};

/** The server-sent events side of the gateway. */
export function createStreams(dependencies: Dependencies) {
  const { sessions, joiner, topics, perUser, perAddress, clientAddress, origins, limits, clock, steadyClock } =
    dependencies;
  const { onCut, onError } = dependencies;
  const streams = new Map<StreamConnection, { beatAt: number }>();
  let isClosing = false;

  /** Takes a place for the address and for the user; gives the function that gives both back. */
  function takePlaces(address: string, session: Session): () => void {
    const user = JSON.stringify([session.org, session.uid]);
    if (!perAddress.take(address)) throw tooManyConnections("address", limits.connectionsPerAddress);
    if (!perUser.take(user)) {
      perAddress.release(address);
      throw tooManyConnections("user", limits.connectionsPerUser);
    }
    return () => {
      perUser.release(user);
      perAddress.release(address);
    };
  }

  async function open(request: Request, address: string, id: string): Promise<Response> {
    if (request.method !== "GET") throw new HeraldError("method_not_allowed", undefined, { headers: { Allow: "GET" } });
    const since = request.headers.get("last-event-id") || undefined;
    if (since !== undefined && !isIdentifier(since))
      throw new HeraldError("bad_request", "`Last-Event-ID` must be the `_id` of a message");
    const session = await sessions.open(bearerToken(request) ?? "", address);
    if (isClosing) throw unavailable({ detail: "this node stops; connect to another" });
    const releasePlaces = takePlaces(address, session);
    const timer = createSessionTimer({
      clock,
      onExpiring: () => undefined,
      onExpired: () => connection.end("bad_token"),
    });
    const connection = createStreamConnection({
      id,
      session,
      topics,
      maxWaitingBytes: limits.backlogBytes,
      onCut,
      onClose() {
        timer.stop();
        streams.delete(connection);
        joiner.leave(connection);
        releasePlaces();
      },
    });
    streams.set(connection, { beatAt: steadyClock.now() });
    timer.extend(session.expiresAt);
    request.signal.addEventListener("abort", () => connection.cut());

    const isRecovered = await new Promise<boolean | undefined>((admit, refuse) => {
      const joined = joiner.join(connection, session, since, admit);
      // A join that ends without admitting has lost its client: the answer goes nowhere, but must not be waited for.
      joined
        .then(() => admit(undefined))
        .catch((error: unknown) => {
          connection.cut();
          onError(error);
          refuse(error);
        });
    });
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
  }

  async function answer(request: Request, address: string, id: string): Promise<Response> {
    try {
      origins.require(request);
      return await open(request, address, id);
    } catch (thrown) {
      const error = toHeraldError(thrown);
      if (error.code === "internal") onError(thrown);
      return problemResponse(error, id);
    }
  }

  return {
    /** Answers `GET /sse`. The session's snapshot comes before the answer: all that is committed after it is heard. */
    async handle(request: Request, server: Server<unknown>): Promise<Response> {
      const id = createId();
      const cors = origins.corsHeaders(request);
      const preflight = answerPreflight(request, cors);
      if (preflight !== undefined) return preflight;
      server.timeout(request, 0);
      const response = await answer(request, networkOf(clientAddress(request, server)), id);
      // Bun keeps "no time-out" for whatever follows on the connection, so nothing may follow.
      for (const [name, value] of Object.entries({ ...cors, Connection: "close" })) response.headers.set(name, value);
      return response;
    },
    /** Sends a comment to every stream that was not sent one for a while. Called every second. */
    beat(): void {
      const now = steadyClock.now();
      for (const [stream, state] of streams) {
        if (now - state.beatAt < limits.pingMs) continue;
        state.beatAt = now;
        stream.comment();
      }
    },
    listeners: (): Iterable<Listener> => streams.keys(),
    count: () => streams.size,
    /** Ends every stream, spread evenly over `spreadMs`, and refuses new ones. */
    async closeAll(spreadMs: number): Promise<void> {
      isClosing = true;
      await spread([...streams.keys()], spreadMs, (stream) => stream.end("restarting"));
    },
  };
}
