import type { FeedFilter } from "../contract/connections/feed.ts";
import { errorAbout } from "../contract/errors/naming.ts";
import type { LogReader, OrganizationReads, Standing } from "../store/ports.ts";

/** A request to watch an organization. */
export type FeedWish = {
  org: string;
  filter: FeedFilter;
  /** The address of the request; empty if unknown. */
  address: string;
  /** Aborts when the client is gone. */
  signal: AbortSignal;
  /** Called when the feed is ended: the reader must then take the remaining bytes soon. */
  onEnd(): void;
  /** Called repeatedly while the feed is open; rejects once the caller may no longer watch. */
  permit(): Promise<void>;
};

/** Live feeds of what organizations deliver. */
export type Feeds = {
  /**
   * Returns a body of server-sent events: everything delivered in the organization, in log order, that is committed
   * after this resolves. Throws `organization_not_found`, `rate_limited` if the address has too many connections, and
   * `unavailable`.
   */
  open(wish: FeedWish): Promise<ReadableStream<Uint8Array>>;
};

/** The start of a feed: the head of the log, and the conversations of the watched user, in one snapshot. */
type FeedStart = { head: number; headId: string | undefined; cids: string[] };

/** Finds where feeds start. */
export type FeedStarts = ReturnType<typeof createFeedStarts>;

type Dependencies = {
  standing: Pick<Standing, "snapshot">;
  log: Pick<LogReader, "heads">;
  organizations: Pick<OrganizationReads, "get">;
};

/** Creates feed starts that read from the store. */
export function createFeedStarts({ standing, log, organizations }: Dependencies) {
  async function snapshotOf(org: string): Promise<FeedStart | undefined> {
    // Reads the head first: if the organization still exists after that, an event that ends it lies beyond the head and
    // will be heard.
    const head = (await log.heads([org])).get(org);
    if (head === undefined || (await organizations.get(org)) === undefined) return undefined;
    return { head: head.offset, headId: head.id, cids: [] };
  }

  return {
    /** Throws `organization_not_found`. Without `uid`, `cids` is empty. */
    async find(org: string, uid: string | undefined): Promise<FeedStart> {
      const start = uid === undefined ? await snapshotOf(org) : await standing.snapshot(org, uid);
      if (start === undefined) throw errorAbout("organization_not_found", { organization: org });
      return start;
    },
  };
}
