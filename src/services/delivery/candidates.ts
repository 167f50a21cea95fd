import { z } from "zod";
import type { RecipientReads, StayPlace } from "../../store/delivery/ports.ts";

/** A user who may be a recipient, and the place after which the next page begins. */
export type Candidate<Place> = { uid: string; isRecipient: boolean; place: Place };

/** The users among whom the recipients of an event are found, in a stable order. */
export type Candidates<Place> = {
  place: z.ZodType<Place>;
  /** Reads at most `limit` candidates after a place, or from the beginning; fewer at the end. */
  read(after: Place | undefined, limit: number): Promise<Candidate<Place>[]>;
};

const stayPlace = z.strictObject({ uid: z.string(), after: z.int().min(0) });
const listPlace = z.strictObject({ index: z.int().min(0) });

/** Everyone who has ever taken part in a conversation: recipients are those who did at `offset`. */
export function participantsOf(
  reads: Pick<RecipientReads, "stays">,
  { org, cid, offset }: { org: string; cid: string; offset: number },
): Candidates<StayPlace> {
  return {
    place: stayPlace,
    async read(place, limit) {
      const stays = await reads.stays(org, cid, place, limit);
      return stays.map(({ uid, after, upTo = Number.POSITIVE_INFINITY }) => ({
        uid,
        isRecipient: after < offset && offset <= upTo,
        place: { uid, after },
      }));
    },
  };
}

/** The users that a system message names, in its order. */
export function namedIn(uids: readonly string[]): Candidates<z.infer<typeof listPlace>> {
  return {
    place: listPlace,
    async read(place, limit) {
      const start = place === undefined ? 0 : place.index + 1;
      const some = uids.slice(start, start + limit);
      return some.map((uid, index) => ({ uid, isRecipient: true, place: { index: start + index } }));
    },
  };
}
