import { createBackoff } from "../../sdk/backoff.ts";
import { HeraldApiError } from "../../sdk/errors.ts";
import { path, query } from "../../sdk/paths.ts";
import type { Message, SystemMessage } from "../../sdk/types.ts";
import { readEventStream } from "./event-stream.ts";

/** What was heard: a conversation's message or a system message. `number` counts what this feed heard, from 1. */
export type Heard = { number: number; heardAt: number } & (
  | { kind: "message"; message: Message }
  | { kind: "system_message"; message: SystemMessage }
);

/** Which events are wanted; what is left out does not restrict. */
export type FeedFilter = { kind?: string | undefined; cid?: string | undefined; uid?: string | undefined };

/** How the feed stands. `refused`: it does not try again. */
export type FeedState =
  | { is: "connecting" | "open" }
  | { is: "waiting"; error: unknown }
  | { is: "refused"; error: HeraldApiError };

/** The last events that were heard, the newest last, and how many there were in all. */
export type Feed = {
  state(): FeedState;
  heard(): readonly Heard[];
  count(): number;
  clear(): void;
  stop(): void;
};

type FeedOptions = {
  org: string;
  apiKey: string;
  filter: FeedFilter;
  /** Something came or changed. Called once for whatever came since the last frame of the screen. */
  onChange: () => void;
};

const kept = 1_000;
const slack = 250; // so that the oldest are cut off now and then, not at each event

/** Follows an organization's events until it is stopped. Events that come while the connection is broken are missed. */
export function followEvents({ org, apiKey, filter, onChange }: FeedOptions): Feed {
  const ending = new AbortController();
  const backoff = createBackoff({ minMs: 500, maxMs: 10_000 });
  let state: FeedState = { is: "connecting" };
  let heard: Heard[] = [];
  let count = 0;
  let frame: number | undefined;

  // One look at the screen for however many events came meanwhile. A hidden tab gets no frames, and needs none.
  const change = () => {
    frame ??= requestAnimationFrame(() => {
      frame = undefined;
      onChange();
    });
  };
  const turn = (next: FeedState) => {
    state = next;
    change();
  };
  const hear = (type: string, data: string) => {
    if (type !== "message" && type !== "system_message") return;
    const message = JSON.parse(data)[type];
    count += 1;
    heard.push({ number: count, heardAt: Date.now(), kind: type, message });
    if (heard.length > kept + slack) heard = heard.slice(-kept);
    change();
  };

  async function connect(): Promise<void> {
    const address = path`/admin/organizations/${org}/events` + query(filter);
    const headers = { "Admin-Api-Key": apiKey, Accept: "text/event-stream" };
    const response = await fetch(address, { headers, signal: ending.signal, cache: "no-store" });
    if (!response.ok || response.body === null) throw await refusalOf(response);
    backoff.reset();
    turn({ is: "open" });
    await readEventStream(response.body, ({ type, data }) => hear(type, data));
    throw new Error("The server ended the feed.");
  }

  async function follow(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        await connect();
      } catch (error) {
        if (ending.signal.aborted) return;
        if (error instanceof HeraldApiError && error.status < 500 && error.status !== 429)
          return turn({ is: "refused", error });
        turn({ is: "waiting", error });
        await new Promise((resolve) => setTimeout(resolve, backoff.next()));
      }
    }
  }
  void follow();

  return {
    state: () => state,
    heard: () => heard,
    count: () => count,
    clear() {
      heard = [];
      change();
    },
    stop() {
      ending.abort();
      if (frame !== undefined) cancelAnimationFrame(frame);
    },
  };
}

async function refusalOf(response: Response): Promise<HeraldApiError> {
  const problem = await response.json().catch(() => ({}));
  return new HeraldApiError({
    status: response.status,
    code: String(problem.code ?? "not_herald"),
    detail: String(problem.detail ?? `The server answered ${response.status}.`),
    requestId: response.headers.get("X-Request-Id") ?? undefined,
  });
}
