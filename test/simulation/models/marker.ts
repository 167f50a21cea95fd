import type { InboxItem } from "../../../src/contract/messages/inbox.ts";
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

/** A page of an inbox, when it was asked for and when it was answered, in milliseconds. */
export type Listing = {
  org: string;
  uid: string;
  limit: number;
  isUnread: boolean;
  askedAt: number;
  answeredAt: number;
  ids: string[];
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

async function mark({ random, orgs, uids, now, note, listings }: Markers, node: Node): Promise<void> {
  const [org, uid] = [random.pick(orgs), random.pick(uids)];
  const [limit, isUnread] = [random.integer(1, 20), random.next() < 0.5];
  const askedAt = now();
  const items = await node.inboxes.list(org, uid, { limit, unread: isUnread });
  const ids = idsOf(items);
  listings.push({ org, uid, limit, isUnread, askedAt, answeredAt: now(), ids });
  const seen = random.next() < 0.3;
  const some = ids.filter(() => random.next() < 0.5);
  const marked = random.next() < 0.3 ? undefined : some;
  note(() => `${uid} in ${org} marks ${marked ?? "all"} as ${seen ? "seen" : "read"} through ${node.name}`);
  if (marked === undefined || marked.length > 0) await node.inboxes.mark(org, uid, { ids: marked, seen });
}

const idsOf = (items: readonly InboxItem[]) => items.map(({ _id }) => _id);
