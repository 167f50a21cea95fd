import { z } from "zod";
import { lastEnded, lastRefused } from "../contract/presence.ts";

const longestId = 64;
const count = z.int().min(0);
const ask = z.string().min(1).max(longestId).optional();

/** A question with its random id, to which answers are bound; versions that do not sign omit the id. */
export const presenceQuestion = z.union([
  z.object({
    ask,
    org: z.string(),
    uids: z.array(z.string()),
    devices: z.boolean().optional(),
    connections: z.object({ close: z.string().optional() }).optional(),
  }),
  z.object({ ask, org: z.string(), after: z.string(), limit: z.int().min(1) }),
]);

const user = z.object({ id: z.string(), connections: count, devices: z.array(z.string().nullable()).optional() });

const connection = z.object({
  connection_id: z.string(),
  transport: z.enum(["websocket", "sse"]),
  device_id: z.string().nullable(),
  client: z.string().nullable(),
  address: z.string(),
  since: z.string(),
  waiting_bytes: count,
});

const last = z.object({ last_ended: lastEnded.optional(), last_refused: lastRefused.optional() });

/** The answer of one node, with its id. */
export const presenceAnswer = z.object({
  node: z.string(),
  answer: z.object({
    online: z.array(user),
    hasMore: z.boolean(),
    total: z.object({ users: count, connections: count }),
    version: z.string().max(longestId).optional(),
    rates: z.object({ requests: count, messages: count }).optional(),
    connections: z.array(connection).optional(),
    last: last.optional().catch(undefined), // of a later version, which may know more
  }),
});
