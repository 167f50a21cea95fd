import type { FeedFilter } from "../contract/connections/feed.ts";
import { HeraldError } from "../contract/errors/errors.ts";
import type { LogReader, OrganizationReads, Standing } from "../store/ports.ts";

/** Who wants to watch an organization, and what of it. */
export type FeedWish = {
  org: string;
  filter: FeedFilter;
  /** The address that the request came from; empty when nobody knows it. */
  address: string;
  /** Aborts when the client is gone. */
  signal: AbortSignal;
  /** Called when the feed is ended: what waits for its reader must be taken soon. */
  onEnd(): void;
  /** Asked again and again while the feed is open: rejects once the caller may not watch any more. */
  permit(): Promise<void>;
};

/** Live feeds of what organizations deliver. */
export type Feeds = {
  /**
   * A body of server-sent events: everything delivered in the organization, in the order of its log, that is committed after
   * this has resolved. Throws `organization_not_found`, `rate_limited` when the address has too many connections, and
   * `unavailable`.
   */
  open(wish: FeedWish): Promise<ReadableStream<Uint8Array>>;
};

/** Where a feed begins: the head of the log, and the conversations of the user that it is about, in one snapshot. */
export type FeedStart = { head: number; headId: string | undefined; cids: string[] };

/** Finds where feeds begin. */
export type FeedStarts = {
  /** Throws `organization_not_found`. Without `uid` there are no conversations. */
  find(org: string, uid: string | undefined): Promise<FeedStart>;
};

type Dependencies = {
  standing: Pick<Standing, "snapshot">;
  log: Pick<LogReader, "heads">;
  organizations: Pick<OrganizationReads, "get">;
};

/** Reads where feeds begin from the store. */
export function createFeedStarts({ standing, log, organizations }: Dependencies): FeedStarts {
  async function snapshotOf(org: string): Promise<FeedStart | undefined> {
    // The head comes first: the end of an organization that is still there after it lies beyond the head, and will be heard.
    const head = (await log.heads([org])).get(org);
    if (head === undefined || (await organizations.get(org)) === undefined) return undefined;
    return { head: head.offset, headId: head.id, cids: [] };
  }

  return {
    async find(org, uid) {
      const start = uid === undefined ? await snapshotOf(org) : await standing.snapshot(org, uid);
      if (start === undefined) throw new HeraldError("organization_not_found");
      return start;
    },
  };
}
