import { HeraldError } from "../contract/errors.ts";
import { type FrameId, frameRequests } from "../contract/frames.ts";
import { toIso } from "../contract/identifiers.ts";
import { validate } from "../contract/validation.ts";
import type { Clock } from "../lib/clock.ts";
import type { Session } from "../services/sessions.ts";
import type { Doorkeeper } from "./doorkeeper.ts";
import { tellFault } from "./faults.ts";
import { errorFrame, type Frame, responseFrame } from "./frames.ts";
import type { Joiner } from "./join.ts";
import type { RequestHandler } from "./requests.ts";
import { createSessionTimer } from "./session-timer.ts";
import { type Closing, closeSocket, createSocketConnection, type Socket, type SocketLine } from "./socket.ts";

type Dependencies = {
  doorkeeper: Doorkeeper;
  joiner: Joiner;
  handle: RequestHandler;
  clock: Clock;
  onError(error: unknown): void;
};

/** What a client says of itself: the message that it saw last, and what it calls its device. */
type Hello = { since?: string | undefined; device?: string | undefined };

type Admit = (isRecovered: boolean | undefined) => void;

/** What happens on a socket between its opening and its close: the session, and the answers to its frames. */
export type SocketSessions = {
  /** Begins a session on a socket that has none; resolves when it has joined or is gone. */
  begin(socket: Socket, line: SocketLine, session: Session, hello: Hello, admit: Admit): Promise<void>;
  /** Answers one frame, once; a `connect` that fails closes the socket. Rejects with what fails after the answer. */
  answer(socket: Socket, line: SocketLine, frame: Frame): Promise<void>;
};

/** The sessions of the sockets of one node. */
export function createSocketSessions(dependencies: Dependencies): SocketSessions {
  const { doorkeeper, joiner, handle, clock, onError } = dependencies;

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

  const begin: SocketSessions["begin"] = async (socket, line, session, { since, device }, admit) => {
    const { data } = socket;
    if (!line.isOpen) return;
    data.deadline = "met";
    const connection = createSocketConnection(socket, line, session, device);
    const timer = createSessionTimer({
      owner: line.owner,
      clock,
      onExpiring: (expiresAt) => line.write([JSON.stringify({ session: { expires_at: toIso(expiresAt) } })]),
      onExpired: () => line.end("bad_token"),
    });
    timer.extend(session.expiresAt);
    data.user = { connection, timer };
    await joiner.join(connection, session, since, admit);
  };

  type Reply = (frame: string) => void;

  async function connect(socket: Socket, line: SocketLine, id: FrameId, payload: unknown, reply: Reply): Promise<void> {
    const { token, since, device_id: device } = validate(frameRequests.connect, payload);
    const { user, address } = socket.data;
    if (user === undefined) {
      const session = await doorkeeper.admit(line.owner, token, address);
      await begin(socket, line, session, { since, device }, (isRecovered) =>
        reply(responseFrame(id, connectBody(socket, session, isRecovered))),
      );
      return;
    }
    const session = await doorkeeper.renew(token, address);
    const { connection, timer } = user;
    if (session.org !== connection.org || session.uid !== connection.uid) {
      throw new HeraldError(
        "bad_request",
        "a connection can be extended only with a token of its own user; open another one",
      );
    }
    connection.extend(session.issuedAt);
    timer.extend(session.expiresAt);
    reply(responseFrame(id, connectBody(socket, session, since === undefined ? undefined : false)));
  }

  return {
    begin,
    async answer(socket, line, frame) {
      if (frame.fault !== undefined) return line.write([errorFrame(frame.id, frame.fault)]);
      const { data } = socket;
      const isConnect = frame.operation === "connect";
      let isAnswered = false;
      const reply = (text: string) => {
        isAnswered = true;
        line.write([text]);
      };
      try {
        data.isConnecting = isConnect; // meanwhile the time to connect does not run out
        if (frame.operation === "connect") return await connect(socket, line, frame.id, frame.payload, reply);
        if (data.user === undefined && frame.operation !== "ping")
          throw new HeraldError("unauthorized", "`connect` with a user token first");
        const asker = data.user?.connection ?? { org: "", uid: "" };
        reply(responseFrame(frame.id, await handle(asker, frame.operation, frame.payload)));
      } catch (thrown) {
        if (isAnswered) throw thrown; // a request is answered once: what fails while its connection catches up ends the socket
        const error = tellFault(thrown, onError);
        line.write([errorFrame(frame.id, error)]);
        const closing = isConnect ? closingAfter(error) : undefined;
        if (closing !== undefined) closeSocket(socket, closing);
      } finally {
        data.isConnecting = false;
        if (data.deadline === "over") line.end("connect_timeout"); // a request that fails is no reason to wait longer
      }
    },
  };
}

/** Whether and how an error on `connect` ends the socket. */
export function closingAfter({ code, status, headers, closes }: HeraldError): Closing | undefined {
  if (closes !== undefined) return { reason: closes };
  if (code === "unauthorized") return { reason: "bad_token" };
  if (code === "rate_limited") {
    const seconds = Number(headers["Retry-After"]);
    return { reason: "too_many", retryAfterSeconds: seconds > 0 ? seconds : undefined };
  }
  if (code === "bad_request") return { reason: "protocol_error" };
  if (status >= 500) return { reason: "internal" };
  return undefined;
}
