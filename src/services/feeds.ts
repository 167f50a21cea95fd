import type { FeedFilter } from "../contract/connections/feed.ts";
import { HeraldError } from "../contract/errors/errors.ts";
import { errorAbout } from "../contract/errors/naming.ts";
import type { LogEvent } from "../contract/log/log-event.ts";
import { type LogPage, type LogPlace, logStart, placeIn } from "../contract/log/log-place.ts";
import { timeOfId } from "../lib/text/ids.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { LogReader, OrganizationReads, Standing } from "../store/ports.ts";
import { requireOrganization } from "./directory/directory.ts";

/** What to show of an organization, and the cursor after which to begin, if it is not now. */
export type FeedQuery = {
  org: string;
  filter: FeedFilter;
  after: string | undefined;
  /** Charges what is read of the past, in requests. Resolves once the limits of the caller allow more. */
  pay(cost: number): Promise<void>;
};

/** A request to watch an organization. */
export type FeedWish = FeedQuery & {
  /** The address of the request; empty if unknown. */
  address: string;
  /** Aborts when the client is gone. */
  signal: AbortSignal;
  /** Called when the feed is ended: the reader must then take the remaining bytes soon. */
  onEnd(): void;
  /** Called repeatedly while the feed is open; rejects once the caller may no longer watch. */
  permit(): Promise<void>;
};

/** A page of a feed: events in the order of the log, and the cursor of the next page, which is never over. */
export type FeedPage = { events: LogEvent[]; next: string };

/** Feeds of what organizations deliver. */
export type Feeds = {
  /**
   * Returns a body of server-sent events: everything of the organization's log after the cursor, in order, or without it all that
   * is committed after this resolves. Throws `organization_not_found`, `cursor_too_old`, `rate_limited` if the address has too many
   * connections, and `unavailable`.
   */
  open(wish: FeedWish): Promise<ReadableStream<Uint8Array>>;
  /**
   * Reads at most `limit` events after the cursor, or without it from the oldest that is kept. Throws `organization_not_found` and
   * `cursor_too_old`.
   */
  page(query: FeedQuery & { limit: number }): Promise<FeedPage>;
};

/** The start of a feed: its place in the log and, of a feed of a user, the user's conversations there. */
type FeedStart = { place: LogPlace; cids: string[] };

/** Finds where feeds start. */
export type FeedStarts = ReturnType<typeof createFeedStarts>;

type Dependencies = {
  standing: Pick<Standing, "snapshot">;
  log: Pick<LogReader, "heads" | "readFrom">;
  organizations: Pick<OrganizationReads, "get">;
  clock: Clock;
  /** How long events are kept, in days; `Infinity` for ever. */
  keepDays: number;
};

const dayMs = 24 * 3600 * 1000;

/** Creates feed starts that read from the store. */
export function createFeedStarts({ standing, log, organizations, clock, keepDays }: Dependencies) {
  async function headOf(org: string): Promise<FeedStart> {
    // Reads the head first: if the organization still exists after that, an event that ends it lies beyond the head and
    // will be heard.
    const place = (await log.heads([org])).get(org);
    await requireOrganization(organizations, org);
    return { place: place ?? logStart, cids: [] };
  }

  return {
    /** Where a feed starts that shows what comes. Throws `organization_not_found`. */
    async now(org: string, uid: string | undefined): Promise<FeedStart> {
      if (uid === undefined) return await headOf(org);
      const start = await standing.snapshot(org, uid);
      if (start === undefined) throw errorAbout("organization_not_found", { organization: org });
      return { place: { offset: start.head, id: start.headId }, cids: start.cids };
    },
    /**
     * The place of a cursor, if the log holds everything after it. Throws `organization_not_found`, and `cursor_too_old` if part of
     * that was removed, or if the log was rolled back to before the cursor.
     */
    async resume(org: string, after: string): Promise<LogPlace> {
      const place = placeIn(after) ?? { offset: 0, id: "" };
      const page = await log.readFrom(org, place.offset, 1);
      const { createdAt } = await requireOrganization(organizations, org);
      if (isRolledBack(place, page))
        throw tooOld(
          "the event of the cursor is not in the log any more, as a failover lost it, or it was never there",
        );
      const at = place.id === "" ? createdAt : timeOfId(place.id);
      if (mayHaveHole(place, page) && at < clock.now() - keepDays * dayMs)
        throw tooOld(`the cursor is older than the ${keepDays} days for which events are kept`);
      return place;
    },
  };
}

function isRolledBack({ offset, id }: LogPlace, { head, anchor }: LogPage): boolean {
  return head.offset < offset || (anchor !== undefined && anchor !== id);
}

/** Whether anything after the place may have been removed: retention removes the oldest first. */
function mayHaveHole({ offset }: LogPlace, { head, events }: LogPage): boolean {
  return head.offset > offset && events[0]?.offset !== offset + 1;
}

function tooOld(why: string): HeraldError {
  const next = "read what is stored with an export, then follow the feed from its newest cursor";
  return new HeraldError("cursor_too_old", `${why}; ${next}`);
}
