import { HeraldConnectionError, HeraldRequestError } from "../errors.ts";
import { createBackoff } from "../waiting/backoff.ts";
import { tooMany } from "../waiting/return-wait.ts";
import { sleep, withTimeout } from "../waiting/timers.ts";
import { type Connection, type Ending, openConnection } from "./connection.ts";
import type { ServerFrame } from "./frames.ts";
import { createHeartbeat, type Heartbeat } from "./heartbeat.ts";
import type { WebSocketConstructor } from "./websocket.ts";

/** Timings in milliseconds, with defaults in `client.ts`. `tooManyMs` is the minimum wait after a 4429 without a time. */
export type Timing = {
  requestTimeoutMs: number;
  heartbeatMs: number;
  minBackoffMs: number;
  maxBackoffMs: number;
  stableAfterMs: number;
  tooManyMs: number;
};

/** A frame with an event of the organization's log. */
type LogFrame = Extract<
  ServerFrame,
  { kind: "message" | "system_message" | "message_edit" | "message_delete" | "message_read" }
>;

/** The options of a session. `signal` ends it. */
export type SessionOptions = {
  url: string;
  WebSocket: WebSocketConstructor;
  token: () => string | Promise<string>;
  deviceId: string | undefined;
  since: string | undefined;
  timing: Timing;
  signal: AbortSignal;
  onConnected: (connection: Connection, answer: Record<string, unknown>, since: string | undefined) => void;
  onEvent: (event: LogFrame) => void;
  onError: (error: unknown) => void;
};

/** How long to wait for the server to close a socket after it refused `connect`, before the client closes it. */
const lastWordMs = 1_000;

/**
 * Runs one connection from the token to its close, and resolves with why it ended. Pings when the connection is quiet, and sends
 * a fresh token when the server announces that the session is about to expire. Never rejects.
 */
export async function playSession(options: SessionOptions): Promise<Ending> {
  const { timing, signal, onError } = options;
  const over = new AbortController();
  let heartbeat: Heartbeat | undefined;
  let isRenewing = false;

  const freshToken = () =>
    withTimeout(
      Promise.resolve().then(() => options.token()),
      timing.requestTimeoutMs,
      () => new HeraldConnectionError(`token() returned no token within ${timing.requestTimeoutMs / 1000} s.`),
    );

  async function authenticate(connection: Connection, token: string): Promise<void> {
    const since = options.since;
    try {
      const answer = await connection.request("connect", {
        token,
        ...(options.deviceId === undefined ? {} : { device_id: options.deviceId }),
        ...(since === undefined ? {} : { since }),
      });
      if (over.signal.aborted || signal.aborted) return;
      heartbeat = createHeartbeat({
        quietMs: timing.heartbeatMs,
        ping: () => connection.request("ping", {}).catch(acceptRefusal),
        onDead: () => connection.end({ code: 1006, reason: "no response to ping" }),
      });
      options.onConnected(connection, answer, since);
    } catch (error) {
      if (over.signal.aborted) return;
      onError(error);
      const code = closeCodeOf(error);
      // The server closes the socket next, and only its close reason says when to retry.
      if (code === tooMany) await sleep(lastWordMs, over.signal);
      connection.end({ code, reason: error instanceof Error ? error.message : "connect failed" });
    }
  }

  async function renew(connection: Connection): Promise<void> {
    if (isRenewing) return;
    isRenewing = true;
    const backoff = createBackoff({ minMs: timing.minBackoffMs, maxMs: timing.maxBackoffMs });
    while (!over.signal.aborted) {
      try {
        await connection.request("connect", { token: await freshToken() });
        break;
      } catch (error) {
        if (over.signal.aborted) break;
        onError(error);
        await sleep(backoff.next(), over.signal);
      }
    }
    isRenewing = false;
  }

  let token: string;
  try {
    token = await freshToken();
  } catch (error) {
    onError(error);
    return { code: 1006, reason: "token() failed" };
  }
  const ending = await new Promise<Ending>((resolve) => {
    if (signal.aborted) return resolve({ code: 1000, reason: "stopped" });
    const connection = openConnection({
      url: options.url,
      WebSocket: options.WebSocket,
      requestTimeoutMs: timing.requestTimeoutMs,
      onOpen: () => void authenticate(connection, token),
      onFrame: (frame) => {
        heartbeat?.heard();
        if (frame.kind === "session") void renew(connection);
        else if (frame.kind !== "unknown") options.onEvent(frame);
      },
      onError,
      onEnd: resolve,
    });
    signal.addEventListener("abort", () => connection.end({ code: 1000, reason: "stopped" }), { signal: over.signal });
  });
  over.abort();
  heartbeat?.stop();
  return ending;
}

/** A refused ping is a sign of life, too. */
function acceptRefusal(error: unknown): void {
  if (!(error instanceof HeraldRequestError)) throw error;
}

/** The close code for a refused `connect`. Any other error gets 1006, after which the client retries. */
function closeCodeOf(error: unknown): number {
  if (!(error instanceof HeraldRequestError) || error.status < 400 || error.status > 499) return 1006;
  const codes: Record<number, number> = { 401: 4401, 403: 4403, 408: 4408, 429: tooMany };
  return codes[error.status] ?? 4400;
}
