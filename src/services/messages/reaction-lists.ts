import { errorAbout } from "../../contract/errors/naming.ts";
import { maxReactionsListed } from "../../contract/messages/reactions.ts";
import type { ReactionReads } from "../../store/messages/ports.ts";

/** Creates the lists of who has reacted to a message, for its participants. */
export function createReactionLists({ reactions }: { reactions: ReactionReads }) {
  return {
    /**
     * The users who have reacted in each way, by id: of the first 1,000 reactions, by user. Throws `message_not_found` unless the user
     * sees the message.
     */
    async reactionsTo(org: string, uid: string, mid: string): Promise<{ byReaction: object; count: number }> {
      const found = await reactions.reactionsTo(org, uid, mid, maxReactionsListed);
      if (found === undefined) throw errorAbout("message_not_found", { message: mid });
      const grouped = Map.groupBy(found, ({ reaction }) => reaction);
      const entries = Array.from(grouped, ([reaction, ones]) => [reaction, ones.map((one) => one.uid)] as const);
      return { byReaction: Object.fromEntries(entries), count: found.length };
    },
  };
}

/** The lists of who has reacted to a message. */
export type ReactionLists = ReturnType<typeof createReactionLists>;
