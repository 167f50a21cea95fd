import { readSecret } from "../secrets.ts";
import type { FeedFilter } from "../types.ts";
import { rootOf } from "./address.ts";
import { createAppendCalls } from "./calls/appends.ts";
import { createBatchCalls } from "./calls/batch.ts";
import { createDirectoryCalls } from "./calls/directory.ts";
import { createFileCalls } from "./calls/files.ts";
import { createKeyCalls } from "./calls/keys.ts";
import { createMessageCalls } from "./calls/messages.ts";
import { path, query } from "./calls/paths.ts";
import { createProposalCalls } from "./calls/proposals.ts";
import { createReportCalls } from "./calls/reports.ts";
import { createScheduleCalls } from "./calls/schedule.ts";
import { createServerCalls } from "./calls/server.ts";
import { createTransferCalls } from "./calls/transfer.ts";
import { createWebhookCalls } from "./calls/webhooks.ts";
import { type AdminOptions, createExchange, type RequestOptions } from "./exchange.ts";
import { type Feed, type FeedOptions, watchFeed } from "./feed.ts";

/**
 * The admin API. The last argument of every method takes a `signal`. Methods reject with `HeraldApiError`, with `HeraldArgumentError`
 * for an identifier that cannot be part of a URL, or with the reason of the signal.
 */
export type AdminClient = ReturnType<typeof createMessageCalls> &
  ReturnType<typeof createAppendCalls> &
  ReturnType<typeof createBatchCalls> &
  ReturnType<typeof createScheduleCalls> &
  ReturnType<typeof createProposalCalls> &
  ReturnType<typeof createReportCalls> &
  ReturnType<typeof createDirectoryCalls> &
  ReturnType<typeof createTransferCalls> &
  ReturnType<typeof createFileCalls> &
  ReturnType<typeof createKeyCalls> &
  ReturnType<typeof createWebhookCalls> &
  ReturnType<typeof createServerCalls> & {
    /**
     * Makes any call: `path` includes the query, `body` is sent as JSON, and `Answer` is the type that the caller expects. GET, PUT
     * and DELETE are retried as idempotent; other methods only with `isSafe`.
     */
    request<Answer = unknown>(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Answer>;
    /**
     * Yields everything that is delivered in the organization after the cursor `after`, or from now on, in the order of its log: `for
     * await (const event of admin.events("demo"))`. To end the feed, leave the loop or abort `signal`. A feed that is interrupted
     * reconnects and goes on after its `cursor`; with `uid`, it omits what is delivered in the meantime. `onStateChange` reports it.
     * Throws if the server refuses the call.
     */
    events(org: string, options?: FeedFilter & FeedOptions): Feed;
  };

const minBackoffMs = 250;
const maxBackoffMs = 8_000;
/** With these waits, 20 to 40 s: longer than a server takes to restart. */
const usualRetries = 9;

/**
 * Creates a client of the admin API. It retries calls with backoff after 429 and, if they are idempotent, after 500, 502, 503,
 * 504, 507 or no response, for about 30 s. A send without an id gets a random one, so that retries send nothing twice. Throws
 * `HeraldArgumentError`.
 */
export function createAdmin({
  url: address,
  key: apiKey,
  fetch = globalThis.fetch,
  retries = usualRetries,
  timeoutMs = 30_000,
  deadlineMs = Number.POSITIVE_INFINITY,
}: AdminOptions): AdminClient {
  const root = rootOf(address);
  // A build may evaluate the module without the environment. The server refuses calls without a key.
  const key = typeof apiKey === "string" && apiKey.trim() === "" ? "" : readSecret(apiKey, "The API key");
  const settings = { root, key, fetch, retries, timeoutMs, deadlineMs, minBackoffMs, maxBackoffMs };
  const exchange = createExchange(settings);

  async function request<Answer = unknown>(
    method: string,
    path: string,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<Answer> {
    const answer = await exchange(method, path, body, options);
    return answer.body as Answer;
  }

  const messages = createMessageCalls(exchange, request);
  return {
    request,
    ...messages,
    ...createAppendCalls(request, messages.sendMessage, settings),
    ...createBatchCalls({ root, key, fetch }),
    ...createScheduleCalls(request),
    ...createProposalCalls(request),
    ...createReportCalls(request),
    ...createDirectoryCalls(request),
    ...createTransferCalls({ root, key, fetch }),
    ...createFileCalls(exchange, request, settings),
    ...createKeyCalls(request),
    ...createWebhookCalls(request),
    ...createServerCalls(exchange, request),

    events(
      org: string,
      { after, onCursor, signal, onStateChange, silentMs, ...filter }: FeedFilter & FeedOptions = {},
    ): Feed {
      const isResumable = filter.uid === undefined;
      const addressOf = (cursor: string | undefined) =>
        root + path`/admin/organizations/${org}/events` + query({ ...filter, after: cursor });
      const feed = { addressOf, isResumable, key, fetch, timeoutMs, retries, minBackoffMs, maxBackoffMs };
      return watchFeed(feed, { after, onCursor, signal, onStateChange, silentMs });
    },
  };
}
