import { joinIds } from "../../../src/lib/text/ids.ts";
import { placesOf } from "../../../src/store/inbox/places.ts";
import type { SystemMessage, SystemRecall } from "./changes.ts";
import type { Commit, InboxRow, Organization, Stay } from "./organization.ts";

/**
 * Bugs of the database that are to be found: all system messages are kept; who joins a conversation has what was
 * addressed to it before; what a key has replaced stays; who has left a conversation is not told of recalls.
 */
export type InboxFlaw = "keeps all" | "keeps for those who join" | "replaces nothing" | "forgets those who left";

/** The changes that take system messages of one sender back: for each audience, and for those who have left it since. */
export function planSystemRecalls(
  { inboxRows, stays, commits }: Organization,
  { sender, ids, flaw }: { sender: string; ids: readonly string[]; flaw: InboxFlaw | undefined },
): SystemRecall[] {
  const found = commits.flatMap((commit) => (commit !== undefined && ids.includes(commit.event.id) ? [commit] : []));
  const groups = Map.groupBy(found, ({ event: { cid, uids } }) => JSON.stringify([cid, uids]));
  return [...groups.values()].flatMap((group) => {
    const offsets = group.map(({ event }) => event.offset);
    const { cid, uids = [] } = group[0]?.event ?? {};
    const kept = inboxRows.filter(({ offset }) => offsets.includes(offset)).map(({ keptUntil }) => keptUntil);
    const until = kept.length === 0 ? undefined : Math.max(...kept);
    const isThere = (uid: string) => stays.some((stay) => isIn(stay, { cid, uid }) && !isOver(stay));
    const hasLeft = (stay: Stay) => isIn(stay, { cid }) && offsets.some((offset) => covers(stay, offset));
    const left = stays.flatMap((stay) => (hasLeft(stay) && !isThere(stay.uid) ? [stay.uid] : []));
    const recall = { kind: "system_recall" as const, sender, ids: group.map(({ event }) => event.id), until };
    const isToldByName = until !== undefined && left.length > 0 && flaw !== "forgets those who left";
    return [
      { ...recall, cid, uids },
      ...(isToldByName ? [{ ...recall, cid: undefined, uids: [...new Set(left)].sort() }] : []),
    ];
  });
}

/** Applies the effects of a commit on inboxes. */
export function followInboxes(organization: Organization, commit: Commit, flaw: InboxFlaw | undefined): void {
  const { event, change, told, marked } = commit;
  const { stays, inboxMarks } = organization;
  const { cid = "", offset } = event;
  const after = flaw === "keeps for those who join" ? 0 : offset;
  for (const uid of change?.added ?? []) stays.push({ cid, uid, after, upTo: Number.POSITIVE_INFINITY });
  for (const uid of change?.removed ?? [])
    for (const stay of stays) if (isIn(stay, { cid, uid }) && !isOver(stay)) stay.upTo = offset;
  if (told?.kind === "system") keep(organization, event, told, flaw);
  if (told?.kind === "system_recall") takeOut(organization, event, told);
  for (const { uid, marks } of marked) inboxMarks.set(uid, marks);
}

function keep(
  organization: Organization,
  { id: mid, offset, expiresAt }: Commit["event"],
  { sender, isSilent = false, kept, ...address }: SystemMessage,
  flaw: InboxFlaw | undefined,
): void {
  if (kept === undefined && flaw !== "keeps all") return;
  const { until: keptUntil, key } = kept ?? { until: Number.POSITIVE_INFINITY };
  const senderKey = key === undefined ? undefined : joinIds(sender, key);
  const places = placesOf(address);
  const isOfFormer = (row: InboxRow) =>
    organization.stays.some((stay) => isIn(stay, address) && isOver(stay) && covers(stay, row.offset));
  const isReplaced = (row: InboxRow) =>
    senderKey !== undefined && row.senderKey === senderKey && places.includes(row.place) && !isOfFormer(row);
  if (flaw !== "replaces nothing") organization.inboxRows = organization.inboxRows.filter((row) => !isReplaced(row));
  for (const place of places)
    organization.inboxRows.push({ place, offset, mid, senderKey, isSilent, keptUntil, expiresAt });
}

/** What a key has replaced stays replaced. */
function takeOut(
  organization: Organization,
  { offset }: Commit["event"],
  { ids, until, ...address }: SystemRecall,
): void {
  const isRecalled = ({ mid = "" }: InboxRow) => ids.includes(mid);
  organization.inboxRows = organization.inboxRows.filter((row) => row.senderKey !== undefined || !isRecalled(row));
  for (const row of organization.inboxRows) if (isRecalled(row)) row.mid = undefined;
  if (until === undefined) return;
  const row = { offset, mid: undefined, senderKey: undefined, isSilent: true, keptUntil: until, expiresAt: undefined };
  for (const place of placesOf(address)) organization.inboxRows.push({ ...row, place });
}

const isOver = ({ upTo }: Stay) => upTo !== Number.POSITIVE_INFINITY;
const covers = ({ after, upTo }: Stay, offset: number) => after < offset && offset <= upTo;
const isIn = (stay: Stay, { cid, uid = stay.uid }: { cid?: string | undefined; uid?: string }) =>
  stay.cid === cid && stay.uid === uid;
