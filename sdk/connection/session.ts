import { HeraldRequestError } from "../errors.ts";
import type { Backoff } from "../waiting/backoff.ts";
import { tooMany } from "../waiting/return-wait.ts";
import { sleep, withTimeout } from "../waiting/timers.ts";
import type { Connection, ConnectionOptions, Ending } from "./connection.ts";
import { type Handlers, readFrame } from "./frames.ts";
import { startHeartbeat } from "./heartbeat.ts";

/**
 * Timings in milliseconds, with defaults in `client.ts`. `tooManyMs` is the minimum wait after a 4429 without a time, and `refusedTokenMs` that after
 * a token that was refused.
 */
export type Timing = {
  requestTimeoutMs: number;
  heartbeatMs: number;
  minBackoffMs: number;
  maxBackoffMs: number;
  stableAfterMs: number;
  tooManyMs: number;
  refusedTokenMs: number;
};

/** The options of a session. `signal` ends it. */
export type SessionOptions<X> = {
  open: (options: ConnectionOptions) => Connection;
  token: () => Promise<string>;
  deviceId?: string | undefined;
  since: () => string | undefined;
  timing: Timing;
  backoff: Backoff;
  signal: AbortSignal;
  onOpen: () => void;
  /** Called in the end if the connection opened, and then nothing arrived in time: a proxy may keep it all to itself. */
  onSilent: () => void;
  onConnected: (connection: Connection, answer: Record<string, unknown>, since: string | undefined) => void;
  /** Handlers of events. */
  handlers: Omit<Handlers<X>, "response" | "session">;
  onError: (error: unknown) => void;
};

/** The close code for a `connect` that the server has not received in time. */
const unheard = 4408;

/** How long to wait for the server to close a socket after it refused `connect`, before the client closes it. */
const lastWordMs = 1_000;

/**
 * Runs one connection from the token to its close, and resolves with why it ended. Pings when the connection is quiet, and sends
 * a fresh token when the server announces that the session is about to expire. Never rejects.
 */
export async function playSession<X>(options: SessionOptions<X>): Promise<Ending> {
  const { timing, signal, onError } = options;
  const over = new AbortController();
  let heard: (() => void) | undefined;
  let isRenewing = false;
  let isSilent = true;
  let isLate = false;

  const freshToken = () => withTimeout(options.token(), timing.requestTimeoutMs, "token");

  async function authenticate(connection: Connection, token: string): Promise<void> {
    const since = options.since();
    try {
      // JSON leaves out what is undefined.
      const answer = await connection.request("connect", { token, device_id: options.deviceId, since });
      if (over.signal.aborted || signal.aborted) return;
      heard = startHeartbeat({
        quietMs: timing.heartbeatMs,
        answerMs: timing.requestTimeoutMs,
        ping: () => connection.request("ping", {}),
        onDead: () => connection.end({ code: 1006, reason: "no response to ping" }),
        signal: over.signal,
      });
      options.onConnected(connection, answer, since);
    } catch (error) {
      if (over.signal.aborted) return;
      isLate = true;
      onError(error);
      const ending = endingOf(error);
      // The server closes the socket next, and only its close reason says when to retry.
      if (ending.code === tooMany) await sleep(lastWordMs, over.signal);
      connection.end(ending);
    }
  }

  async function renew(connection: Connection): Promise<void> {
    if (isRenewing) return;
    isRenewing = true;
    while (!over.signal.aborted) {
      try {
        await connection.request("connect", { token: await freshToken() });
        break;
      } catch (error) {
        if (over.signal.aborted) break;
        onError(error);
        await sleep(options.backoff.next(), over.signal);
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
    const handlers: Handlers<X> = {
      ...options.handlers,
      response: (answer) => connection.settle(answer),
      session: () => void renew(connection),
    };
    const connection = options.open({
      requestTimeoutMs: timing.requestTimeoutMs,
      onOpen() {
        options.onOpen();
        void authenticate(connection, token);
      },
      onText(text) {
        isSilent = false;
        heard?.();
        try {
          readFrame(text, handlers);
        } catch (error) {
          onError(error);
        }
      },
      onError,
      onEnd: resolve,
    });
    const endFor = (reason: string, code: number) => () => connection.end({ code, reason });
    signal.addEventListener("abort", endFor("stopped", 1000), { signal: over.signal });
    globalThis.addEventListener?.("offline", endFor("the device is offline", 1006), { signal: over.signal });
  });
  over.abort();
  if (isSilent && (isLate || ending.code === unheard)) options.onSilent();
  return ending;
}

/** The ending for a refused `connect`: the close code of its status. Any other error gets 1006, after which the client retries. */
function endingOf(error: unknown): Ending {
  const reason = error instanceof Error ? error.message : "connect failed";
  const status = error instanceof HeraldRequestError ? error.status : 0;
  if (status < 400 || status > 499) return { code: 1006, reason };
  return { code: [401, 403, 408, 429].includes(status) ? 4000 + status : 4400, reason };
}
