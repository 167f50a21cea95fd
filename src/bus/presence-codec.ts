import { z } from "zod";
import type { PresenceAnswer, PresenceQuestion } from "../contract/presence.ts";
import { toObject } from "./hint-codec.ts";

const count = z.int().min(0);

const question: z.ZodType<PresenceQuestion> = z.union([
  z.object({ org: z.string(), uids: z.array(z.string()), devices: z.boolean().optional() }),
  z.object({ org: z.string(), after: z.string(), limit: z.int().min(1) }),
]);

const user = z.object({ id: z.string(), connections: count, devices: z.array(z.string().nullable()).optional() });

const signed: z.ZodType<SignedAnswer> = z.object({
  node: z.string(),
  answer: z.object({
    online: z.array(user),
    hasMore: z.boolean(),
    total: z.object({ users: count, connections: count }),
  }),
});

/** The answer of one node, and which node that is. */
export type SignedAnswer = { node: string; answer: PresenceAnswer };

/** Reads the question in a text; `undefined` when it cannot be read. */
export function decodeQuestion(text: string): PresenceQuestion | undefined {
  return question.safeParse(toObject(text)).data;
}

/** The same for an answer. */
export function decodeAnswer(text: string): SignedAnswer | undefined {
  return signed.safeParse(toObject(text)).data;
}
