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

/** A question with its random id, to which the answers are bound; a version that does not sign gives it none. */
export type AskedQuestion = PresenceQuestion & { ask?: string | undefined };

/** The answer of one node, and which node that is. */
export type NodeAnswer = { node: string; answer: PresenceAnswer };

/** Reads the question in a text; `undefined` when it cannot be read. */
export function decodeQuestion(text: string): AskedQuestion | undefined {
  return question.safeParse(toObject(text)).data;
}

/** The same for an answer. */
export function decodeAnswer(text: string): NodeAnswer | undefined {
  return answered.safeParse(toObject(text)).data;
}
