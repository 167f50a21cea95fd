import type { Socket } from "bun";
import { type Backoff, createBackoff } from "../../../sdk/waiting/backoff.ts";
import { returnWaitMs } from "../../../sdk/waiting/return-wait.ts";
import { handshake, headEnd, maskedFrame, readServerFrame } from "./handshake.ts";

/**
 * The state of the clients: how many are in, how long each took, how often they tried, why connections ended, and the
 * refusals of `connect`.
 */
export type StormReport = {
  in: number;
  inMs: number[];
  attempts: number;
  endings: Record<string, number>;
  refusals: Record<string, number>;
  /** Refused for good: they do not retry. */
  lost: number;
};

/** Clients that connect and retry like the SDK. */
export type ReturningClients = {
  /** Opens all sockets and sends nothing. Resolves once each is open or has ended. */
  open(): Promise<void>;
  /** Open clients send `connect` at once; the others open first. */
  connect(): void;
  report(): StormReport;
  close(): void;
};

type Client = { readonly hello: Buffer; readonly backoff: Backoff; attempt: Attempt | undefined; inMs: number };

type Attempt = {
  readonly client: Client;
  socket: Socket<Attempt> | undefined;
  bytes: Buffer;
  isUpgraded: boolean;
  isIn: boolean;
  hasEnded: boolean;
  deadline: ReturnType<typeof setTimeout> | undefined;
};

// Like the SDK's (`sdk/client.ts`).
const answerWithinMs = 10_000;
const bounds = { minMs: 250, maxMs: 15_000, tooManyMs: 5_000 };

const closeOpcode = 8;
const isFinal = (code: number) => code >= 4400 && code <= 4499 && code !== 4408 && code !== 4429;

/** Creates an idle client for each token. */
export function createReturningClients(url: string, tokens: readonly string[]): ReturningClients {
  const { host, hostname, port } = new URL(url);
  const endings: Record<string, number> = {};
  const refusals: Record<string, number> = {};
  const clients = tokens.map((token): Client => {
    const hello = maskedFrame(JSON.stringify({ request: { connect: { token }, id: 1 } }));
    return { hello, backoff: createBackoff(bounds), attempt: undefined, inMs: Number.NaN };
  });
  let mayConnect = false;
  let isOver = false;
  let begunAt = 0;
  let attempts = 0;
  let lost = 0;
  let onSettled = () => {};

  const handlers = {
    open(socket: Socket<Attempt>) {
      socket.data.socket = socket;
      socket.write(handshake(host, "/ws", []));
    },
    data: ({ data: attempt }: Socket<Attempt>, chunk: Buffer) => hear(attempt, chunk),
    close: ({ data: attempt }: Socket<Attempt>) => end(attempt, 1006),
    connectError: ({ data: attempt }: Socket<Attempt>) => end(attempt, 1006, "", "no connection"),
  };

  function start(client: Client): void {
    if (isOver) return;
    attempts++;
    const attempt: Attempt = {
      client,
      socket: undefined,
      bytes: Buffer.alloc(0),
      isUpgraded: false,
      isIn: false,
      hasEnded: false,
      deadline: undefined,
    };
    client.attempt = attempt;
    expectAnswer(attempt);
    Bun.connect<Attempt>({ hostname, port: Number(port), data: attempt, socket: handlers }).catch(() => undefined); // reported to `connectError`
  }

  function expectAnswer(attempt: Attempt): void {
    clearTimeout(attempt.deadline);
    attempt.deadline = setTimeout(() => end(attempt, 1006, "", "no answer in 10 s"), answerWithinMs);
  }

  function hear(attempt: Attempt, chunk: Buffer): void {
    if (attempt.hasEnded) return;
    attempt.bytes = Buffer.concat([attempt.bytes, chunk]);
    if (!attempt.isUpgraded && !upgrade(attempt)) return;
    for (let frame = readServerFrame(attempt.bytes); frame !== undefined; frame = readServerFrame(attempt.bytes)) {
      attempt.bytes = attempt.bytes.subarray(frame.size);
      if (frame.opcode === closeOpcode) {
        const code = frame.payload.length < 2 ? 1005 : frame.payload.readUInt16BE();
        end(attempt, code, frame.payload.toString("utf8", 2));
        return;
      }
      read(attempt, frame.payload.toString());
    }
  }

  function upgrade(attempt: Attempt): boolean {
    const headBytes = attempt.bytes.indexOf(headEnd);
    if (headBytes === -1) return false;
    const status = attempt.bytes.toString("latin1", "HTTP/1.1 ".length, "HTTP/1.1 101".length);
    if (status !== "101") {
      end(attempt, 1006, "", `HTTP ${status}`);
      return false;
    }
    attempt.bytes = attempt.bytes.subarray(headBytes + headEnd.length);
    attempt.isUpgraded = true;
    if (mayConnect) say(attempt);
    else clearTimeout(attempt.deadline);
    onSettled();
    return true;
  }

  function say(attempt: Attempt): void {
    expectAnswer(attempt);
    attempt.socket?.write(attempt.client.hello);
  }

  function read(attempt: Attempt, text: string): void {
    const { response } = JSON.parse(text);
    const refusal = response?.error;
    if (refusal !== undefined) count(refusals, `${refusal.status} ${refusal.code}`); // a close follows
    if (refusal !== undefined || response === undefined || attempt.isIn) return;
    clearTimeout(attempt.deadline);
    attempt.isIn = true;
    if (Number.isNaN(attempt.client.inMs)) attempt.client.inMs = performance.now() - begunAt;
  }

  function end(attempt: Attempt, code: number, reason = "", why = `${code} ${reason}`.trim()): void {
    if (attempt.hasEnded || isOver) return;
    attempt.hasEnded = true;
    attempt.isIn = false;
    clearTimeout(attempt.deadline);
    attempt.socket?.terminate();
    count(endings, why);
    onSettled();
    if (isFinal(code)) lost++;
    else setTimeout(() => start(attempt.client), returnWaitMs({ code, reason }, attempt.client.backoff, bounds));
  }

  return {
    open() {
      const { promise, resolve } = Promise.withResolvers<void>();
      let waiting = clients.length;
      onSettled = () => {
        waiting--;
        if (waiting === 0) resolve();
      };
      for (const client of clients) start(client);
      return promise;
    },
    connect() {
      begunAt = performance.now();
      mayConnect = true;
      onSettled = () => {};
      for (const client of clients) {
        if (client.attempt === undefined) start(client);
        else if (client.attempt.isUpgraded && !client.attempt.hasEnded) say(client.attempt);
      }
    },
    report: () => ({
      in: clients.filter(({ attempt }) => attempt?.isIn).length,
      inMs: clients.map(({ inMs }) => inMs).filter((ms) => !Number.isNaN(ms)),
      attempts,
      endings,
      refusals,
      lost,
    }),
    close() {
      isOver = true;
      for (const { attempt } of clients) attempt?.socket?.terminate();
    },
  };
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
