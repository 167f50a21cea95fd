import { Worker } from "node:worker_threads";
import { unavailable } from "../../contract/errors/errors.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import type { ToolCall } from "../../contract/mcp/calls.ts";
import type { ToolAnswer } from "../../contract/mcp/results.ts";
import type { FromThread, McpRequest, McpResponse, ToThread } from "./messages.ts";

/** Makes the calls of a request. */
export type MakeCall = (wanted: ToolCall) => Promise<ToolAnswer>;

/** Answers requests to `/mcp`. Rejects with `unavailable` if the thread cannot. */
export type McpThread = (request: McpRequest, makeCall: MakeCall) => Promise<McpResponse>;

type Pending = {
  makeCall: MakeCall;
  /** The calls that are not answered yet. */
  unanswered: number;
  resolve(response: McpResponse): void;
  reject(error: unknown): void;
};
type Running = { worker: Worker; pending: Map<number, Pending>; lastUsedAt: number };

type Options = {
  limits: PayloadLimits;
  /** How long the thread lives without a request. */
  keptMs?: number;
  /** How long a request may take. */
  mayTakeMs?: number;
};

const mostPending = 256;

/**
 * Creates the thread that speaks MCP: its SDK and the schemas of all tools cost 30 MB and 300 to 600 ms of processor time, for which
 * no start, no other caller and no node without agents should pay. It begins with the first request, and ends when there was none
 * for five minutes.
 */
export function createMcpThread({ limits, keptMs = 300_000, mayTakeMs = 30_000 }: Options): McpThread {
  let running: Running | undefined;
  let lastRequest = 0;

  function start(): Running {
    const worker = new Worker(new URL("./mcp-worker.ts", import.meta.url), { workerData: { limits } });
    const started: Running = { worker, pending: new Map(), lastUsedAt: performance.now() };
    worker.unref(); // a node that stops does not wait for it
    worker.on("message", (message: FromThread) => take(started, message));
    worker.once("error", (cause) => end(started, cause));
    worker.once("exit", () => end(started));
    endWhenUnused(started);
    return started;
  }

  function take({ pending, worker }: Running, message: FromThread): void {
    const of = pending.get(message.request);
    if (of === undefined) return;
    if ("response" in message) of.resolve(message.response);
    else if ("failed" in message) of.reject(new Error(message.failed));
    else void answerCall(worker, of, message);
  }

  /** Never rejects. */
  async function answerCall(worker: Worker, of: Pending, { call, wanted }: { call: number; wanted: ToolCall }) {
    of.unanswered++;
    try {
      const answer = await of.makeCall(wanted);
      worker.postMessage({ call, answer } satisfies ToThread);
    } catch (error) {
      of.reject(error);
    } finally {
      of.unanswered--;
    }
  }

  /** A request takes too long: if the thread does not wait for an answer to it, the thread hangs. */
  function giveUp(current: Running, { unanswered, reject }: Pending): void {
    const late = unavailable({ detail: "the request took too long; try again" });
    if (unanswered > 0) reject(late);
    else end(current, late);
  }

  function end(ended: Running, cause?: unknown): void {
    if (running === ended) running = undefined;
    void ended.worker.terminate();
    for (const { reject } of ended.pending.values())
      reject(unavailable({ detail: "the thread that speaks MCP has ended; try again", cause }));
  }

  function endWhenUnused(watched: Running): void {
    const timer = setTimeout(() => {
      if (running !== watched) return;
      const isUsed = watched.pending.size > 0 || performance.now() - watched.lastUsedAt < keptMs;
      if (isUsed) endWhenUnused(watched);
      else end(watched);
    }, keptMs);
    timer.unref();
  }

  return async (request, makeCall) => {
    running ??= start();
    const { worker, pending } = running;
    const current = running;
    if (pending.size >= mostPending)
      throw unavailable({ detail: "too many MCP requests wait for this node; try again" });
    const { promise, resolve, reject } = Promise.withResolvers<McpResponse>();
    const number = ++lastRequest;
    const waiting: Pending = { makeCall, unanswered: 0, resolve, reject };
    pending.set(number, waiting);
    const timer = setTimeout(() => giveUp(current, waiting), mayTakeMs);
    timer.unref();
    worker.postMessage({ request: number, message: request } satisfies ToThread);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      pending.delete(number);
      current.lastUsedAt = performance.now();
    }
  };
}
