import type { Fetch } from "../../sdk/admin/fetch.ts";
import { HeraldApiError } from "../../sdk/errors.ts";

/** Whether the server answers what this tab reads. */
export type Contact = {
  /** Use it for all calls: it sees which of them are answered. */
  fetch: Fetch;
  /** When the server answered last, in milliseconds since the Unix epoch, if it does not answer now; otherwise `undefined`. */
  asOf(): number | undefined;
  /** Calls `listener` whenever `asOf` has changed, until the function that it returns is called. */
  onChange(listener: () => void): () => void;
  /** Asks no more. */
  stop(): void;
};

type Read = { url: string; init: RequestInit };

const patienceMs = 5_000;
const askEveryMs = 2_000;
const mostUnanswered = 20;

/** What a proxy answers, or Herald itself, while nothing can be read. */
const isAway = (status: number) => status >= 502 && status <= 504;

/** Whether an error says that the server did not answer, which the pages say together. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof HeraldApiError && (error.status === 0 || isAway(error.status));
}

/** Whether an error says no more than that there was no answer. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof HeraldApiError && error.status === 0;
}

/**
 * Creates the contact to a server. A read without an answer within 5 s, or with 502 to 504, is asked again every 2 s until it is
 * answered; in place of a stream, `aliveUrl` is. Until then, what is shown is as of the last answer.
 */
export function createContact(aliveUrl: string): Contact {
  const unanswered = new Map<string, Read>();
  const listeners = new Set<() => void>();
  let answeredAt = Date.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asOf: number | undefined;

  function update(): void {
    const next = unanswered.size === 0 ? undefined : (asOf ?? answeredAt);
    if (next === asOf) return;
    asOf = next;
    clearTimeout(timer);
    if (asOf !== undefined) timer = setTimeout(() => void ask(), askEveryMs);
    for (const listener of listeners) listener();
  }

  function lose(read: Read): void {
    if (unanswered.size < mostUnanswered) unanswered.set(read.url, read);
    update();
  }

  function hear({ url }: Read): void {
    answeredAt = Date.now();
    unanswered.delete(url);
    update();
  }

  async function ask(): Promise<void> {
    for (const read of [...unanswered.values()]) {
      try {
        const response = await fetch(read.url, { ...read.init, signal: AbortSignal.timeout(patienceMs) });
        void response.body?.cancel().catch(() => undefined); // only that it answers counts
        if (isAway(response.status)) break;
        hear(read);
      } catch {
        break;
      }
    }
    if (asOf !== undefined) timer = setTimeout(() => void ask(), askEveryMs);
  }

  return {
    async fetch(url, init) {
      const read = readOf(url, init, aliveUrl);
      if (read === undefined) return await fetch(url, init);
      const late = setTimeout(() => lose(read), patienceMs);
      try {
        const response = await fetch(url, init);
        if (isAway(response.status)) lose(read);
        else hear(read);
        return response;
      } catch (error) {
        if (init.signal?.aborted !== true) lose(read);
        throw error;
      } finally {
        clearTimeout(late);
      }
    },
    asOf: () => asOf,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    stop() {
      listeners.clear();
      unanswered.clear();
      update();
    },
  };
}

/** What to ask again if a call is not answered; `undefined` for one that changes something. */
function readOf(url: string, { method = "GET", ...init }: RequestInit, aliveUrl: string): Read | undefined {
  if (method !== "GET") return undefined;
  const isStream = new Headers(init.headers).get("Accept") === "text/event-stream";
  return isStream ? { url: aliveUrl, init: {} } : { url, init };
}
