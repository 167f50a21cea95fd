import { expect } from "bun:test";
import { DEADLINE_MS, within } from "../deadline.ts";
import { createInbox, type Inbox } from "./inbox.ts";
import type { Event, SocketResponse } from "./wire.ts";

export type Closed = { code: number; reason: string };

/** A listener that a test can ask for what it heard, in order. */
export type Listener = {
  readonly events: readonly Event[];
  next(predicate?: (event: Event) => boolean, what?: string, ms?: number): Promise<Event>;
  /** Events received and not yet removed by `next`. */
  readonly waiting: readonly Event[];
};

export type Socket = Listener & {
  readonly uid: string;
  /** Every frame as text, in order of arrival. */
  readonly frames: readonly string[];
  readonly closed: Promise<Closed>;
  /** Sends `{request:{[op]:payload,id}}` and waits for the response with that id. */
  request(op: string, payload?: unknown, id?: string | number): Promise<SocketResponse>;
  /** Responses that match no `request` of ours: to raw frames, or without an id. */
  readonly responses: Inbox<SocketResponse>;
  send(frame: string | Uint8Array<ArrayBuffer> | object): void;
  /** Makes a round trip of `ping`, after which nothing may be waiting. */
  expectSilence(): Promise<void>;
  close(): void;
  /** Breaks the connection without a close frame. */
  terminate(): void;
  [Symbol.dispose](): void;
};

// With the DOM's types loaded, `WebSocket` has the browser's type; Bun's takes headers and can break off.
const BunWebSocket = WebSocket as unknown as new (url: string, options: Bun.WebSocketOptions) => Bun.WebSocket;

let requests = 0;

type SocketOptions = {
  headers?: Record<string, string>;
  uid?: string;
  protocols?: string[];
  ca?: string;
  onHeard?: (event: Event) => void;
};

/** Opens a WebSocket and waits for the upgrade. Sends nothing by itself. */
export async function openSocket(url: string, options: SocketOptions = {}): Promise<Socket> {
  const uid = options.uid ?? "somebody";
  const owner = `the socket of ${uid}`;
  const socket = new BunWebSocket(`${url.replace(/^http/, "ws")}/ws`, {
    headers: options.headers ?? {},
    ...(options.protocols === undefined ? {} : { protocols: options.protocols }),
    ...(options.ca === undefined ? {} : { tls: { ca: options.ca } }),
  });
  const frames: string[] = [];
  const events = createInbox<Event>(owner);
  const responses = createInbox<SocketResponse>(owner);
  const pending = new Map<string | number, PromiseWithResolvers<SocketResponse>>();
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<Closed>();

  socket.onopen = () => opened.resolve();
  socket.onerror = () => opened.reject(new Error(`${owner} could not be opened`));
  socket.onmessage = ({ data }) => {
    const text = String(data);
    frames.push(text);
    const frame = JSON.parse(text) as { response?: SocketResponse } & Event;
    if (frame.response === undefined) {
      options.onHeard?.(frame);
      return events.push(frame);
    }
    const waiter = frame.response.id === undefined ? undefined : pending.get(frame.response.id);
    if (waiter === undefined || frame.response.id === undefined) return responses.push(frame.response);
    pending.delete(frame.response.id);
    waiter.resolve(frame.response);
  };
  socket.onclose = ({ code, reason }) => {
    const why = `it was closed with ${code} ${reason}`;
    opened.reject(new Error(`${owner} could not be opened: ${why}`));
    for (const waiter of pending.values()) waiter.reject(new Error(`${owner} waited for a response, but ${why}`));
    events.end(why);
    responses.end(why);
    closed.resolve({ code, reason });
  };
  opened.promise.catch(() => undefined);
  await within(opened.promise, `${owner} to open`);

  const request: Socket["request"] = (op, payload = {}, id = `r${++requests}`) => {
    const waiter = Promise.withResolvers<SocketResponse>();
    pending.set(id, waiter);
    socket.send(JSON.stringify({ request: { [op]: payload, id } }));
    return within(waiter.promise, `the response to ${op} at ${owner}`);
  };

  return {
    uid,
    frames,
    events: events.all,
    waiting: events.waiting,
    responses,
    closed: closed.promise,
    next: events.next,
    request,
    send: (frame) =>
      socket.send(
        typeof frame === "string" ? frame : frame instanceof Uint8Array ? new Uint8Array(frame) : JSON.stringify(frame),
      ),
    async expectSilence() {
      expect((await request("ping")).pong).toEqual({});
      expect(events.waiting).toEqual([]);
    },
    close: () => socket.close(),
    terminate: () => socket.terminate(),
    [Symbol.dispose]: () => socket.terminate(),
  };
}

/** Waits for the close and expects its code. */
export async function expectClosed(socket: Socket, code: number, ms: number = DEADLINE_MS): Promise<void> {
  const closed = await within(socket.closed, `the socket of ${socket.uid} to be closed with ${code}`, ms);
  expect(closed.code).toBe(code);
}
