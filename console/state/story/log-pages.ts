import { path, query } from "../../../sdk/admin/calls/paths.ts";
import type { FeedEvent } from "../../../sdk/admin/feed.ts";
import type { Fetch } from "../../../sdk/admin/fetch.ts";
import { toApiError } from "../../../sdk/admin/http.ts";
import { HeraldApiError } from "../../../sdk/errors.ts";
import type { Logged } from "./timeline.ts";

/** What to read of the log of an organization. */
type Wish = { org: string; types: string[]; cid?: string | undefined; after?: string | undefined };

/** A page of a log. `next` is the cursor of where it ends. */
type LogPage = { entries: Logged[]; next: string };

/** Reads a page of the log of an organization. */
export type ReadLog = (wish: Wish) => Promise<LogPage>;

const mediaType = "application/cloudevents-batch+json";
const pageSize = 1_000;

/** Creates the reads of pages of logs. Each one reads up to some thousands of events, of which it returns those that are wished. */
export function createLogReader(serverUrl: string, key: string, fetch: Fetch): ReadLog {
  return async ({ org, types, cid, after }) => {
    const url = serverUrl + path`/admin/organizations/${org}/events` + query({ types, cid, after, limit: pageSize });
    const response = await fetch(url, {
      headers: { ...(key !== "" && { "Admin-Api-Key": key }), Accept: mediaType },
    }).catch((cause: unknown) => {
      throw new HeraldApiError({ status: 0, code: "unreachable", detail: "No response to a read of the log", cause });
    });
    if (!response.ok) throw toApiError(response, await response.json().catch(() => undefined));
    const batch = (await response.json()) as { id: string; time: string; data: FeedEvent }[];
    const link = /<([^>]+)>; rel="next"/.exec(response.headers.get("Link") ?? "")?.[1] ?? "";
    const next = new URL(link, serverUrl).searchParams.get("after") ?? after ?? "";
    return { entries: batch.map(({ id, time, data }) => ({ cursor: id, at: time, event: data })), next };
  };
}

/** When the event of a cursor was stored, in milliseconds since the Unix epoch: its id, a UUIDv7, says so. */
export function timeOfCursor(cursor: string): number {
  const id = cursor.slice(cursor.indexOf("-") + 1);
  return Number.parseInt(id.replace("-", "").slice(0, 12), 16);
}
