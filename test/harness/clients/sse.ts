import { within } from "../deadline.ts";
import { type Answer, readAnswer } from "../servers/herald.ts";
import { createInbox, type Inbox } from "./inbox.ts";
import type { Listener } from "./socket.ts";
import type { Event, Problem } from "./wire.ts";

/** One event of the stream, its data not yet parsed as JSON. */
export type SseEvent = { event: string; id: string | undefined; data: string };

export type Sse = Listener & {
  readonly uid: string;
  readonly headers: Headers;
  readonly raw: readonly SseEvent[];
  readonly comments: Inbox<string>;
  /** The last `id:`, also of a comment; the cursor of a feed. */
  readonly lastId: string | undefined;
  /** Resolves once the stream ends, from either side. */
  readonly closed: Promise<void>;
  close(): void;
  [Symbol.dispose](): void;
};

/** Requests `GET /sse`; returns a stream if the status is 200, otherwise the response. */
export async function requestSse(
  url: string,
  headers: Record<string, string>,
  uid = "somebody",
  onHeard?: (event: Event) => void,
): Promise<{ sse: Sse } | { refused: Answer<Problem> }> {
  return await requestStream(`${url}/sse`, headers, uid, onHeard);
}

/** Requests a stream of server-sent events at any address. */
async function requestStream(
  address: string,
  headers: Record<string, string>,
  uid: string,
  onHeard: (event: Event) => void = () => undefined,
): Promise<{ sse: Sse } | { refused: Answer<Problem> }> {
  const abort = new AbortController();
  const response = await within(
    fetch(address, { headers, signal: abort.signal }),
    `the answer to GET ${new URL(address).pathname} for ${uid}`,
  );
  if (response.status !== 200 || response.body === null) return { refused: await readAnswer<Problem>(response) };
  const owner = `the stream of ${uid}`;
  const events = createInbox<Event>(owner);
  const comments = createInbox<string>(owner);
  const raw: SseEvent[] = [];
  let lastId: string | undefined;
  const onId = (id: string) => {
    lastId = id;
  };
  const onEvent = (event: SseEvent) => {
    raw.push(event);
    const heard = JSON.parse(event.data) as Event;
    events.push(heard);
    onHeard(heard);
  };
  const closed = readStream(response.body, onEvent, comments.push, onId)
    .catch(() => undefined)
    .then(() => {
      events.end("the stream has ended");
      comments.end("the stream has ended");
    });
  const close = () => abort.abort();
  return {
    sse: {
      uid,
      headers: response.headers,
      raw,
      comments,
      get lastId() {
        return lastId;
      },
      closed,
      close,
      events: events.all,
      waiting: events.waiting,
      next: events.next,
      [Symbol.dispose]: close,
    },
  };
}

/** Opens the stream, which must be granted. `onHeard` is called with each event on arrival. */
export async function openSse(
  url: string,
  headers: Record<string, string>,
  uid?: string,
  onHeard?: (event: Event) => void,
): Promise<Sse> {
  const answer = await requestSse(url, headers, uid, onHeard);
  if ("sse" in answer) return answer.sse;
  throw new Error(`GET /sse was refused with ${answer.refused.status}: ${answer.refused.text}`);
}

/** Opens a stream at any address, which must be granted. */
export async function openStream(address: string, headers: Record<string, string>, uid: string): Promise<Sse> {
  const answer = await requestStream(address, headers, uid);
  if ("sse" in answer) return answer.sse;
  throw new Error(`the stream was refused with ${answer.refused.status}: ${answer.refused.text}`);
}

/** What a feed shows, as query parameters. */
export type FeedQuery = { kind?: string; types?: string; cid?: string; uid?: string; after?: string };

/** Requests the live feed of an organization. */
export async function requestFeed(url: string, org: string, key: string, query: FeedQuery = {}) {
  const search = new URLSearchParams(query).toString().replaceAll("%2C", ","); // commas separate types
  const address = `${url}/admin/organizations/${encodeURIComponent(org)}/events${search === "" ? "" : `?${search}`}`;
  return await requestStream(address, { "Admin-Api-Key": key }, `the feed of ${org}`);
}

/** Opens the live feed of an organization, which must be granted. */
export async function openFeed(url: string, org: string, key: string, query?: FeedQuery): Promise<Sse> {
  const answer = await requestFeed(url, org, key, query);
  if ("sse" in answer) return answer.sse;
  throw new Error(`the feed was refused with ${answer.refused.status}: ${answer.refused.text}`);
}

/** Reads a stream according to the HTML standard (9.2.6), with all line ends that it allows. */
async function readStream(
  body: ReadableStream<Uint8Array>,
  onEvent: (event: SseEvent) => void,
  onComment: (text: string) => void,
  onId: (id: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  let name = "";
  let id: string | undefined;
  let data: string[] = [];
  const onLine = (line: string) => {
    if (line === "") {
      if (id !== undefined) onId(id);
      if (data.length > 0) onEvent({ event: name || "message", id, data: data.join("\n") });
      name = "";
      id = undefined;
      data = [];
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "") onComment(value);
    else if (field === "event") name = value;
    else if (field === "id") id = value;
    else if (field === "data") data.push(value);
  };
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    // A large event comes in many chunks: only chunks that may contain the end of a line are searched.
    if (!rest.endsWith("\r") && !/[\r\n]/.test(text)) {
      rest += text;
      continue;
    }
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  }
}
