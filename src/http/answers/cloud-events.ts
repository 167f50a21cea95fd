import { parseAccept } from "hono/utils/accept";
import { eventNameOf } from "../../contract/connections/event-names.ts";
import { cloudEventsType } from "../../contract/connections/feed.ts";
import { toIso } from "../../contract/identifiers.ts";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { cursorOf } from "../../contract/log/log-place.ts";
import { timeOfId } from "../../lib/text/ids.ts";
import type { FeedPage } from "../../services/feeds.ts";
import type { Answer } from "../call/answer.ts";

/** Whether a request asks for a page of CloudEvents instead of a stream. */
export function asksForCloudEvents(headers: Headers): boolean {
  const accepted = parseAccept(headers.get("accept") ?? "");
  return accepted.some(({ type, q }) => type === cloudEventsType && q > 0);
}

/**
 * Answers a page of a feed as a batch of CloudEvents 1.0 (JSON Event Format, section 4); `Link` leads to the next page (RFC 8288).
 */
export function answerCloudEvents(url: string, { events, next }: FeedPage): Answer {
  const { pathname: source, searchParams: query } = new URL(url);
  query.delete("lastEventId");
  query.set("after", next);
  const texts = events.map((event) => toCloudEvent(event, source));
  const headers = { Link: `<${source}?${query}>; rel="next"` };
  return { status: 200, body: `[${texts.join(",")}]`, contentType: cloudEventsType, headers };
}

function toCloudEvent(event: LogEvent, source: string): string {
  const about = {
    specversion: "1.0",
    id: cursorOf(event),
    source,
    type: eventNameOf(event.kind),
    time: toIso(timeOfId(event.id)),
    datacontenttype: "application/json",
  };
  return `${JSON.stringify(about).slice(0, -1)},"data":${event.payload}}`;
}
