import type { CloseReason } from "../contract/close-codes.ts";
import { HeraldError, toHeraldError } from "../contract/errors.ts";
import { type FrameId, frameRequests } from "../contract/frames.ts";
import { toIso } from "../contract/identifiers.ts";
import { validate } from "../contract/validation.ts";
import type { Clock } from "../lib/clock.ts";
import type { Counters } from "../lib/counters.ts";
import type { Session, Sessions } from "../services/sessions.ts";
import { errorFrame, type Frame, responseFrame } from "./frames.ts";
import type { Joiner } from "./join.ts";
import type { RequestHandler } from "./requests.ts";
import { createSessionTimer } from "./session-timer.ts";
import { closeSocket, createSocketConnection, type Socket } from "./socket.ts";

type Dependencies = {
  sessions: Sessions;
  joiner: Joiner;
  handle: RequestHandler;
  perUser: Counters;
  clock: Clock;
  onError(error: unknown): void;
};

/** What a client says of itself: the message that it saw last, and what it calls its device. */
type Hello = { since?: string | undefined; device?: string | undefined };

type Admit = (isRecovered: boolean | undefined) => void;

/** What happens on a socket between its opening and its close: the session, and the answers to its frames. */
export type SocketSessions = {
  /** Begins a session on a socket that has none; resolves when it has joined. Throws `rate_limited`. */
  begin(socket: Socket, session: Session, hello: Hello, admit: Admit): Promise<void>;
  /** Answers one frame, once; a `connect` that fails closes the socket. Rejects with what fails after the answer. */
  answer(socket: Socket, frame: Frame): Promise<void>;
  /** Gives back what the session of a closed socket held. */
  end(socket: Socket): void;
};

/** The sessions of the sockets of one node. */
export function createSocketSessions(dependencies: Dependencies): SocketSessions {
  const { sessions, joiner, handle, perUser, clock, onError } = dependencies;

  function connectBody(socket: Socket, session: Session, isRecovered: boolean | undefined): object {
    return {
      success: true,
      organization_id: session.org,
      user_id: session.uid,
      connection_id: socket.data.id,
      expires_at: toIso(session.expiresAt),
      ...(isRecovered !== undefined && { recovered: isRecovered }),
    };
  }

  async function begin(socket: Socket, session: Session, { since, device }: Hello, admit: Admit): Promise<void> {
    const { data } = socket;
    if (!perUser.take(userKey(session)))
      throw new HeraldError("rate_limited", "this user has too many connections; close one first");
    clearTimeout(data.connectTimer);
    data.connection = createSocketConnection(socket, session, device);
    data.sessionTimer = createSessionTimer({
      clock,
      onExpiring: (expiresAt) => void socket.sendText(JSON.stringify({ session: { expires_at: toIso(expiresAt) } })),
      onExpired: () => closeSocket(socket, "bad_token"),
    });
    data.sessionTimer.extend(session.expiresAt);
    await joiner.join(data.connection, session, since, admit);
  }

  async function connect(socket: Socket, id: FrameId, payload: unknown, reply: (frame: string) => void): Promise<void> {
    const { token, since, device_id: device } = validate(frameRequests.connect, payload);
    const session = await sessions.open(token, socket.data.address);
    const { connection, sessionTimer } = socket.data;
    if (connection === undefined) {
      await begin(socket, session, { since, device }, (isRecovered) =>
        reply(responseFrame(id, connectBody(socket, session, isRecovered))),
      );
      return;
    }
    if (session.org !== connection.org || session.uid !== connection.uid) {
      throw new HeraldError(
        "bad_request",
        "a connection can be extended only with a token of its own user; open another one",
      );
    }
    connection.extend(session.issuedAt);
    sessionTimer?.extend(session.expiresAt);
    reply(responseFrame(id, connectBody(socket, session, since === undefined ? undefined : false)));
  }

  async function answer(socket: Socket, frame: Frame): Promise<void> {
    if (frame.fault !== undefined) {
      socket.sendText(errorFrame(frame.id, frame.fault));
      return;
    }
    const { connection } = socket.data;
    let isAnswered = false;
    const reply = (text: string) => {
      isAnswered = true;
      socket.sendText(text);
    };
    try {
      if (frame.operation === "connect") return await connect(socket, frame.id, frame.payload, reply);
      if (connection === undefined && frame.operation !== "ping")
        throw new HeraldError("unauthorized", "`connect` with a user token first");
      reply(responseFrame(frame.id, await handle(connection ?? { org: "", uid: "" }, frame.operation, frame.payload)));
    } catch (thrown) {
      if (isAnswered) throw thrown; // a request is answered once: what fails while its connection catches up ends the socket
      const error = toHeraldError(thrown);
      if (error.code === "internal") onError(thrown);
      socket.sendText(errorFrame(frame.id, error));
      const reason = frame.operation === "connect" ? reasonAfter(error) : undefined;
      if (reason !== undefined) closeSocket(socket, reason);
    }
  }

  return {
    begin,
    answer,
    end({ data }) {
      data.sessionTimer?.stop();
      if (data.connection === undefined) return;
      joiner.leave(data.connection);
      perUser.release(userKey(data.connection));
    },
  };
}

function userKey({ org, uid }: { org: string; uid: string }): string {
  return JSON.stringify([org, uid]);
}

/** Whether and how an error on `connect` ends the socket. */
export function reasonAfter(error: HeraldError): CloseReason | undefined {
  if (error.code === "unauthorized") return "bad_token";
  if (error.code === "rate_limited") return "too_many";
  if (error.code === "bad_request") return "protocol_error";
  if (error.status >= 500) return "internal";
  return undefined;
}
