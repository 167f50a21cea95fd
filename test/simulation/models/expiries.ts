import type { Change } from "./changes.ts";
import { planSystemRecalls } from "./inbox-rows.ts";
import { lastsAt, type Organization, type Text } from "./organization.ts";

/**
 * Bugs of the database that are to be found: what has expired is blanked, and nobody is told; what was taken back before it expired
 * ends again; edits do not expire; inboxes show what has expired until it is blanked.
 */
export type ExpiryFlaw = "tells nobody" | "ends what was taken back" | "edits last" | "inboxes show what has expired";

type Options = {
  organizations: ReadonlyMap<string, Organization>;
  now(): number;
  senderOf(id: string): string;
  flaw: ExpiryFlaw | undefined;
};

/** Creates the reads and changes that end what has expired, answered at once. */
export function createExpiries({ organizations, now, senderOf, flaw }: Options) {
  const all = () => [...organizations.values()];

  /** What expires and has not ended yet. */
  function waitingIn({ texts, purgedUpTo }: Organization): [id: string, text: Text][] {
    const hasEnded = (text: Text) => (flaw === "ends what was taken back" ? text.hasExpired : text.isRecalled);
    const isWaiting = (text: Text) => text.expiresAt !== undefined && !hasEnded(text) && text.offset > purgedUpTo;
    return [...texts].filter(([, text]) => isWaiting(text));
  }

  const expiredIn = (organization: Organization, at: number) =>
    waitingIn(organization).filter(([, text]) => !lastsAt(text, at));

  return {
    /** The time, and when the next text expires that has not ended yet. */
    next() {
      const times = all().flatMap((one) => waitingIn(one).map(([, { expiresAt = 0 }]) => expiresAt));
      return { now: now(), nextAt: times.length === 0 ? undefined : Math.min(...times) };
    },
    dueOrganizations: (at: number) => all().flatMap((one) => (expiredIn(one, at).length > 0 ? [one.id] : [])),
    /** The changes that end what an organization has that expired by a time: as if each sender took it back. */
    planEnds(organization: Organization, at: number): Change[] {
      const expired = Map.groupBy(expiredIn(organization, at), ([id, { kind, cid }]) =>
        JSON.stringify([kind, senderOf(id), kind === "message" ? cid : ""]),
      );
      return [...expired.values()].flatMap((group): Change[] => {
        const ids = group.map(([id]) => id);
        const [[first = "", text] = []] = group;
        if (text?.kind === "message") return [{ kind: "recall", cid: text.cid, ids, hasExpired: true }];
        const ends = planSystemRecalls(organization, { sender: senderOf(first), ids, flaw: undefined });
        return ends.map((end) => ({ ...end, hasExpired: true }));
      });
    },
  };
}
