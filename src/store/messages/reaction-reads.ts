import { isMessageOf, isOfConversation } from "../log/past.ts";
import type { Reader } from "../sql/driver.ts";
import { hasText } from "./expiry-rule.ts";
import { hiderValues, isNotHidden } from "./hidden-rule.ts";
import type { ReactionReads, UserReaction } from "./ports.ts";

type PlaceRow = { cid: string; offset: number; reactions: string | null };

const findUsers = `SELECT uid, reaction FROM message_reaction WHERE org = ? AND cid = ? AND "offset" = ? ORDER BY uid, reaction LIMIT ?`;

/** Creates the reads of who has reacted to a message. */
export function createReactionReads({ reader }: { reader: Reader }): ReactionReads {
  const findVisible = `SELECT e.cid, e."offset", e.reactions FROM event e
    JOIN conversation c ON c.org = e.org AND c.id = e.cid AND ${isOfConversation}
    JOIN participant p ON p.org = e.org AND p.cid = e.cid AND p.uid = ?
    WHERE e.org = ? AND e.id = ? AND ${isMessageOf("e")} AND ${hasText(reader.dialect, "e")}
      AND ${isNotHidden({ org: "e.org", cid: "e.cid", offset: 'e."offset"' })}`;
  return {
    async reactionsTo(org, uid, id, limit) {
      const [place] = await reader.allOf<PlaceRow>(org, findVisible, uid, org, id, ...hiderValues(org, uid));
      if (place === undefined) return undefined;
      const { cid, offset, reactions } = place;
      return reactions === null
        ? []
        : await reader.allOf<UserReaction>(org, findUsers, org, cid, Number(offset), limit);
    },
  };
}
