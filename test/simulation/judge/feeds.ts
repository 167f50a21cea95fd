import { eventNameOf } from "../../../src/contract/connections/event-names.ts";
import { placeIn } from "../../../src/contract/log/log-place.ts";
import { blankedPayload } from "../../../src/contract/messages/changes.ts";
import { timeOfId } from "../../../src/lib/text/ids.ts";
import { purgeEveryMs, retentionMs } from "../climate.ts";
import type { Line, Reading, Refusal } from "../models/consumer.ts";
import { type Commit, lastsAt, type Organization } from "../models/organization.ts";

/** A log as it was in one of its lives: the current one, or one that a failover ended. */
type Life = { commits: readonly (Commit | undefined)[]; blankedAt: ReadonlyMap<number, number> };

/** How long a slow database lets a feed wait for its next page, at most. */
const betweenPagesMs = 2_000;

/** Describes all broken promises of feeds; empty if all were kept. */
export function* judgeFeeds(
  organization: (org: string) => Organization,
  { readings, refusals }: { readings: readonly Reading[]; refusals: readonly Refusal[] },
  endedAt: number,
): Iterable<string> {
  for (const [index, reading] of readings.entries())
    for (const broken of judgeReading(organization(reading.org), reading, endedAt)) yield `reading ${index}: ${broken}`;
  for (const refusal of refusals) yield* judgeRefusal(organization(refusal.org), refusal);
}

function* judgeReading(organization: Organization, { lines, isOpen }: Reading, endedAt: number): Iterable<string> {
  const lives: Life[] = [organization, ...organization.lost];
  const moves = lines.filter(({ cursor, name }, index) => name !== undefined || cursor !== lines[index - 1]?.cursor);
  for (const line of lines) if (line.name !== undefined) yield* judgeText(lives, line);
  for (const [index, line] of moves.entries()) {
    const before = moves[index - 1];
    if (before !== undefined) yield* judgeStep(organization, lives, before, line);
  }
  const last = moves.at(-1);
  // A feed that was shown something just before the end, long after the last write, has much to catch up on.
  if (!isOpen || last === undefined || last.at > endedAt - betweenPagesMs) return;
  const at = placeIn(last.cursor)?.offset ?? 0;
  // Retention may remove what a feed that still catches up has not reached.
  const isPurged = ({ at: committedAt, event: { offset } }: Commit) =>
    offset <= organization.purgedUpTo && committedAt + retentionMs <= last.at;
  const missing = organization.commits.find(
    (one) => one !== undefined && one.event.offset > at && mustBeShown(lives, one) && !isPurged(one),
  );
  if (missing !== undefined) yield `never shows ${missing.event.id} at ${missing.event.offset}`;
}

/** What is shown is in the log at its cursor, says what it said there, and nothing once its end was passed. */
function* judgeText(lives: readonly Life[], { cursor, name, text, at, openedAt }: Line): Iterable<string> {
  const { offset = 0, id = "" } = placeIn(cursor) ?? {};
  const life = lives.find(({ commits }) => commits[offset]?.event.id === id);
  const commit = life?.commits[offset];
  if (commit === undefined || eventNameOf(commit.event.kind) !== name) return yield `shows ${cursor} as ${name}`;
  const { event } = commit;
  const isBlank = event.kind !== "recall" && text !== "" && text === blankedPayload(text);
  if (!isBlank && !text.includes(id) && event.kind !== "read") yield `shows another text at ${cursor}`;
  const isText = event.kind === "message" || event.kind === "system";
  if (!isText || isBlank) return;
  if (!lastsAt(event, openedAt)) yield `shows the text of ${id} at ${at}, which has expired at ${event.expiresAt}`;
}

/** Nothing is left out between two lines, nothing comes twice, and both are of one log. */
function* judgeStep(organization: Organization, lives: readonly Life[], before: Line, line: Line): Iterable<string> {
  const [from, to] = [placeIn(before.cursor), placeIn(line.cursor)];
  if (from === undefined || to === undefined) return yield `has the cursor ${before.cursor} or ${line.cursor}`;
  if (to.offset < from.offset || (to.offset === from.offset && line.name !== undefined && before.name !== undefined))
    return yield `goes from ${from.offset} to ${to.offset}`;
  const isIn = ({ commits }: Life, { offset, id }: typeof from) => offset === 0 || commits[offset]?.event.id === id;
  const life = lives.find((one) => isIn(one, from) && isIn(one, to));
  if (life === undefined) return yield `goes from ${before.cursor} to ${line.cursor}, which is in another log`;
  const upTo = line.name === undefined ? to.offset + 1 : to.offset;
  for (const commit of life.commits.slice(from.offset + 1, upTo)) {
    if (commit === undefined || !mustBeShown(lives, commit, line.openedAt)) continue;
    const isPurged = commit.event.offset <= organization.purgedUpTo && commit.at + retentionMs <= line.at;
    const isRefusable = commit.at + retentionMs + purgeEveryMs <= line.openedAt;
    if (isPurged && !isRefusable) continue; // gone while it was read
    yield `leaves out ${commit.event.kind} ${commit.event.id} at ${commit.event.offset} before ${to.offset}`;
  }
}

/**
 * Whether a feed must show an event; what lost its text while it waited for the reader may be left out, and an edit of it. A failover
 * may have lost what took the text, after a feed had read on.
 */
function mustBeShown(lives: readonly Life[], { event }: Commit, openedAt = Number.POSITIVE_INFINITY): boolean {
  if (eventNameOf(event.kind) === undefined) return false;
  const { offset, expiresAt = Number.POSITIVE_INFINITY } = event;
  const own = lives.filter(({ commits }) => commits[offset]?.event === event);
  const ends = own.map(({ blankedAt }) => Math.min(blankedAt.get(offset) ?? Number.POSITIVE_INFINITY, expiresAt));
  return ends.every((at) => at === Number.POSITIVE_INFINITY || (event.kind !== "edit" && at < openedAt));
}

/** A cursor is refused only if something after it was removed, or a failover has lost it. */
function* judgeRefusal({ lost, purgedUpTo }: Organization, { org, cursor, at }: Refusal): Iterable<string> {
  const { offset = 0, id = "" } = placeIn(cursor) ?? {};
  const isLost = lost.some(({ commits, keptUpTo }) => offset > keptUpTo && commits[offset]?.event.id === id);
  if (isLost) return;
  const isOld = id === "" || timeOfId(id) < at - retentionMs;
  if (purgedUpTo <= offset || !isOld) yield `${org} refuses ${cursor} at ${at}, and has all that follows`;
}
