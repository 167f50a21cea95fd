import { z } from "zod";
import { isObject, parseJson } from "../../lib/json/json-values.ts";
import { identifier, text } from "../identifiers.ts";
import type { MessageReactionsUpdateEvent } from "./events.ts";
import { envelope, hasMembers } from "./messages.ts";

/** How long a reaction may be, in code points, as every emoji and SAMA's limit of 10 UTF-16 units fit. */
const maxReactionCharacters = 10;

/** How many different reactions a message may have. */
export const maxReactionsOfMessage = 100;

/** How many reactions to a message a list has at most, each of one user. */
export const maxReactionsListed = 1_000;

/** A reaction: an emoji, or another short text. */
export const reaction = text(1, maxReactionCharacters);

/** A reaction to a message: one to add, one to remove, or both. */
const messageReaction = z
  .strictObject({
    mid: identifier.meta({ description: "The `server_mid` of the message." }),
    add: reaction.optional().meta({ description: "The reaction to add: an emoji, or another short text." }),
    remove: reaction.optional().meta({ description: "The reaction to remove." }),
  })
  .superRefine(({ add, remove }, { addIssue }) => {
    if (add === undefined && remove === undefined)
      addIssue({ code: "custom", message: "needs `add`, `remove` or both", path: ["add"] });
    else if (add === remove) addIssue({ code: "custom", message: "must differ from `add`", path: ["remove"] });
  })
  .meta({
    title: "MessageReaction",
    description: "Needs `add`, `remove` or both, which must differ.",
    if: { anyOf: ["add", "remove"].map((name) => hasMembers([name])) },
    else: { not: {} },
  });

/** The body of `PUT /admin/message/reaction` (api.md, 2.6). */
export const updateReactionsRequest = z.strictObject({ ...envelope, messageReaction }).meta({
  id: "UpdateReactionsRequest",
});

/** A change of a user's reactions to a message. */
export type UpdateReactionsRequest = z.output<typeof updateReactionsRequest>;

/** What changes of a user's reactions to a message. */
export type ReactionChange = MessageReactionsUpdateEvent["message_reactions_update"];

/** The text of the event that tells a change of reactions. */
export function reactionPayload({ mid, cid, from, add, remove }: ReactionChange): string {
  const told = { mid, cid, from, ...(add !== undefined && { add }), ...(remove !== undefined && { remove }) };
  const event: MessageReactionsUpdateEvent = { message_reactions_update: told };
  return JSON.stringify(event);
}

/** How many users have reacted in which way, from the text that the store keeps. */
export function readTotals(text: string | null | undefined): Map<string, number> {
  const totals = text == null ? undefined : parseJson(text);
  return new Map(isObject(totals) ? Object.entries(totals).map(([reaction, count]) => [reaction, Number(count)]) : []);
}
