import { HeraldError } from "../../../src/contract/errors/errors.ts";
import type { Random } from "../../harness/random.ts";
import type { Climate } from "../climate.ts";
import type { Node } from "./node.ts";
import { pause } from "./time.ts";

/** What all who mark share. */
type Markers = {
  random: Random;
  climate: Climate;
  orgs: string[];
  uids: string[];
  now(): number;
  isActive(): boolean;
  pickNode(): Node | undefined;
  note(text: () => string): void;
  listings: Listing[];
  /** Called with the error of a node by its name. */
  tell(node: string, error: unknown): void;
};

/**
 * A page of an inbox: the item before which it was asked for, if any, when it was asked for and answered, in milliseconds, and what
 * it has; `undefined` if the item was not found.
 */
export type Listing = {
  org: string;
  uid: string;
  isUnread: boolean;
  before: string | undefined;
  askedAt: number;
  answeredAt: number;
  ids: string[] | undefined;
};

/** Users who list what is in their inboxes and mark it, through any node, until told to end. No call waits for another. */
export async function runMarker(markers: Markers): Promise<void> {
  const { random, climate, isActive, pickNode, tell } = markers;
  const gapMs = Math.ceil(climate.activeMs / climate.writes);
  for (;;) {
    await pause(random.integer(1, 4 * gapMs));
    if (!isActive()) return;
    const node = pickNode();
    if (node !== undefined) mark(markers, node).catch((error: unknown) => tell(node.name, error));
  }
}

async function mark(markers: Markers, node: Node): Promise<void> {
  const { random, orgs, uids, note } = markers;
  const [org, uid] = [random.pick(orgs), random.pick(uids)];
  const [limit, unread] = [random.integer(1, 20), random.next() < 0.5];
  const first = await list(markers, node, { org, uid, limit, unread });
  const before = first.at(-1);
  const hasMore = before !== undefined && first.length === limit && random.next() < 0.5;
  const ids = hasMore ? [...first, ...(await list(markers, node, { org, uid, limit, unread, before }))] : first;
  const seen = random.next() < 0.3;
  const some = ids.filter(() => random.next() < 0.5);
  const marked = random.next() < 0.3 ? undefined : some;
  note(() => `${uid} in ${org} marks ${marked ?? "all"} as ${seen ? "seen" : "read"} through ${node.name}`);
  if (marked === undefined || marked.length > 0) await node.inboxes.mark(org, uid, { ids: marked, seen });
}

type Page = { org: string; uid: string; limit: number; unread: boolean; before?: string };

/** Lists a page, and returns the ids of its items. */
async function list({ now, listings }: Markers, node: Node, { org, uid, ...page }: Page): Promise<string[]> {
  const askedAt = now();
  const ids = await node.inboxes.list(org, uid, page).then(
    (items) => items.map(({ _id }) => _id),
    (error: unknown) => {
      if (error instanceof HeraldError && error.code === "message_not_found") return undefined;
      throw error;
    },
  );
  const { unread: isUnread, before } = page;
  listings.push({ org, uid, isUnread, before, askedAt, answeredAt: now(), ids });
  return ids ?? [];
}
