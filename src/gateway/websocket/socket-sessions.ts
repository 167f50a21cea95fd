import { type FrameId, frameRequests } from "../../contract/connections/frames.ts";
import { HeraldError } from "../../contract/errors/errors.ts";
import { toIso } from "../../contract/identifiers.ts";
import { validate } from "../../contract/requests.ts";
import { requestCosts } from "../../services/limits/costs.ts";
import type { Inboxes } from "../../services/messages/inboxes.ts";
import type { Session } from "../../services/sessions/sessions.ts";
import { tellFault } from "../connections/faults.ts";
import type { LineParts } from "../connections/line-parts.ts";
import { SessionTimer } from "../connections/session-timer.ts";
import type { UserBudgets } from "../limits/user-budgets.ts";
import { errorFrame, type Frame, listFrame, responseFrame } from "./frames.ts";
import { type Answer, answerPing, type Operation, type RequestHandler } from "./requests.ts";
import { type Closing, closeSocket, type Socket, type SocketConnection, type SocketLine } from "./socket.ts";

type Dependencies = Pick<LineParts, "admission" | "joiner" | "clock" | "onError"> & {
  handle: RequestHandler;
  inboxes: Pick<Inboxes, "countUnread">;
  budgets: UserBudgets;
};

/** The client's part of `connect`: the last message it saw, and its name for its device. */
type Hello = { since?: string | undefined; device?: string | undefined };

/** What `connect` answers besides: whether all that was missed comes, and how much is unread in the inbox. */
type Found = { isRecovered: boolean | undefined; unread: number | undefined };

type Asker = SocketConnection | undefined;
type Asked = { id: FrameId; payload: unknown };

/** Creates the socket sessions of one node. */
export function createSocketSessions(dependencies: Dependencies) {
  const { admission, joiner, handle, inboxes, budgets, clock, onError } = dependencies;

  function connectBody(socket: Socket, session: Session, { isRecovered, unread }: Found): object {
    return {
      success: true,
      organization_id: session.org,
      user_id: session.uid,
      connection_id: socket.data.id,
      expires_at: toIso(session.expiresAt),
      ...(isRecovered !== undefined && { recovered: isRecovered }),
      ...(unread !== undefined && { unread_system_messages_count: unread }),
    };
  }

  /** Begins a session on a socket without one; resolves when it has joined or is gone. */
  async function begin(
    socket: Socket,
    line: SocketLine,
    session: Session,
    { since, device }: Hello,
    admit: (isRecovered: boolean | undefined) => void,
  ): Promise<void> {
    const { data } = socket;
    if (!line.isOpen) return;
    const connection = line.beSessionOf(session, device);
    const timer = new SessionTimer(line.owner, clock, line);
    timer.extend(session.expiresAt);
    data.user = { connection, timer };
    await joiner.join(connection, session, since, admit);
  }

  type Reply = (frame: string) => void;

  async function connect(socket: Socket, line: SocketLine, id: FrameId, payload: unknown, reply: Reply): Promise<void> {
    const { token, since, device_id: device } = validate(frameRequests.connect, payload);
    const { user, address } = socket.data;
    if (user === undefined) {
      const session = await admission.admit(line.owner, token, address);
      const unread = session.hasInboxes ? await inboxes.countUnread(session) : undefined;
      await begin(socket, line, session, { since, device }, (isRecovered) =>
        reply(responseFrame(id, connectBody(socket, session, { isRecovered, unread }))),
      );
      return;
    }
    const session = await admission.renew(line.owner, token, address);
    const { connection, timer } = user;
    if (session.org !== connection.org || session.uid !== connection.uid) {
      throw new HeraldError(
        "bad_request",
        "only a token of the same user can extend this session; open another connection for another user",
      );
    }
    connection.extend(session);
    // The end of this token may have been played while another token held the connection open.
    if (session.tokenId !== undefined) await admission.renew(line.owner, token, address);
    timer.extend(session.expiresAt);
    const unread = session.hasInboxes ? await inboxes.countUnread(session) : undefined;
    reply(
      responseFrame(id, connectBody(socket, session, { isRecovered: since === undefined ? undefined : false, unread })),
    );
  }

  /** Answers any request but `connect`, and charges for it. */
  async function ask(user: Asker, operation: Operation, { id, payload }: Asked, reply: Reply): Promise<Answer> {
    if (user === undefined) {
      // Without a session, only a ping is answered; it costs no budget.
      if (operation !== "ping") throw new HeraldError("unauthorized", "send `connect` with a user token first");
      const answer = answerPing(payload);
      reply(answerFrame(id, answer));
      return answer;
    }
    let cost = requestCosts.request; // charged for refused requests, too
    try {
      const answer = await handle(user, operation, payload);
      const text = answerFrame(id, answer);
      cost = (answer.cost ?? requestCosts.answer(text.length)) + (answer.addedCost ?? 0);
      reply(text);
      return answer;
    } finally {
      budgets.charge(user, cost);
    }
  }

  return {
    begin,
    /**
     * Answers a frame exactly once, when little is waiting for the socket; a failed `connect` closes it. Rejects with
     * errors that occur after the answer.
     */
    async answer(socket: Socket, line: SocketLine, frame: Frame): Promise<void> {
      const { data } = socket;
      // Waits until the client has read its earlier answers. A client that does not is cut for its backlog.
      if (data.user !== undefined && !(await data.user.connection.isReadyForMore())) return;
      if (frame.fault !== undefined) {
        if (data.user !== undefined) budgets.charge(data.user.connection, requestCosts.request);
        return line.write([errorFrame(frame.id, frame.fault)]);
      }
      const isConnect = frame.operation === "connect";
      let isFinal = isConnect;
      let isAnswered = false;
      const reply = (text: string) => {
        isAnswered = true;
        line.write([text]);
      };
      try {
        if (frame.operation === "connect") return await connect(socket, line, frame.id, frame.payload, reply);
        isFinal = true;
        if (data.user !== undefined) await admission.requireBudget(line.owner, data.user.connection);
        isFinal = false;
        const { closing } = await ask(data.user?.connection, frame.operation, frame, reply);
        if (closing !== undefined) closeSocket(socket, { reason: closing });
      } catch (thrown) {
        if (isAnswered) throw thrown; // a request is answered once: an error during catch-up ends the socket
        const error = tellFault(thrown, onError);
        line.write([errorFrame(frame.id, error)]);
        const closing = isFinal ? closingAfter(error) : undefined;
        if (closing !== undefined) closeSocket(socket, closing);
      }
    },
  };
}

/** The sessions of sockets, and the answers to their frames. */
export type SocketSessions = ReturnType<typeof createSocketSessions>;

function answerFrame(id: FrameId, answer: Answer): string {
  return "messages" in answer ? listFrame(id, "messages", answer.messages) : responseFrame(id, answer.body);
}

/** How an error on `connect` closes the socket, if at all. */
export function closingAfter({ code, status, headers, closes, message }: HeraldError): Closing | undefined {
  if (code === "origin_forbidden") return { reason: "origin_forbidden", detail: message };
  if (closes !== undefined) return { reason: closes };
  if (code === "unauthorized") return { reason: "bad_token" };
  if (code === "rate_limited") {
    const seconds = Number(headers["Retry-After"]);
    const [, limit] = /^"([^"]+)"/.exec(headers["RateLimit-Policy"] ?? "") ?? [];
    return { reason: "too_many", limit, retryAfterSeconds: seconds > 0 ? seconds : undefined };
  }
  if (code === "bad_request") return { reason: "protocol_error" };
  if (status >= 500) return { reason: "internal" };
  return undefined;
}
