import { z } from "zod";
import type { PresenceAnswer, PresenceQuestion } from "./bus.ts";
import { toObject } from "./hint-codec.ts";

const longestId = 64;
const count = z.int().min(0);
const ask = z.string().min(1).max(longestId).optional();

const question: z.ZodType<AskedQuestion> = z.union([
  z.object({ ask, org: z.string(), uids: z.array(z.string()), devices: z.boolean().optional() }),
  z.object({ ask, org: z.string(), after: z.string(), limit: z.int().min(1) }),
]);

const user = z.object({ id: z.string(), connections: count, devices: z.array(z.string().nullable()).optional() });

const answered: z.ZodType<NodeAnswer> = z.object({
  node: z.string(),
  answer: z.object({
    online: z.array(user),
    hasMore: z.boolean(),
    total: z.object({ users: count, connections: count }),
    rates: z.object({ requests: count, messages: count }).optional(),
  }),
});

/** A question with its random id, to which answers are bound; versions that do not sign omit the id. */
export type AskedQuestion = PresenceQuestion & { ask?: string | undefined };

/** The answer of one node, with its id. */
export type NodeAnswer = { node: string; answer: PresenceAnswer };

/** Decodes a question; `undefined` if it is unreadable. */
export function decodeQuestion(text: string): AskedQuestion | undefined {
  return question.safeParse(toObject(text)).data;
}

/** Decodes an answer; `undefined` if it is unreadable. */
export function decodeAnswer(text: string): NodeAnswer | undefined {
  return answered.safeParse(toObject(text)).data;
}
