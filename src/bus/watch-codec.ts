import { z } from "zod";
import type { DeliveryNews } from "./bus.ts";

const longestId = 64;
// Fewer bytes than the server takes, and more than a batch of the longest ids.
const partBytes = 64 * 1024;
const ask = z.string().min(1).max(longestId);
const uids = z.array(z.string());

/** A question with its random id and the node that asks; `null` ends it. */
export const watchQuestion = z.union([
  z.object({
    ask,
    from: z.string().regex(/^[\w-]{1,64}$/), // becomes part of a subject
    watch: z.object({ org: z.string(), event: z.string(), ack: z.string(), forMs: z.number().positive() }),
  }),
  z.object({ ask, from: z.string(), watch: z.null() }),
]);

/** A part of what a node tells, counted from 0. */
export const newsPart = z.object({
  node: z.string(),
  part: z.int().min(0),
  news: z.object({ online: uids, missed: uids, acknowledged: uids, isPlayed: z.boolean(), isDone: z.boolean() }),
});

/**
 * Splits news into parts that fit into a message, so that the first of them claim no more than all: who was missed comes
 * first, and that the event was played, or that all is done, comes last.
 */
export function* partsOf({
  online,
  missed,
  acknowledged,
  isPlayed,
  isDone,
}: DeliveryNews): Generator<DeliveryNews, void> {
  let lists = emptyLists();
  let bytes = 0;
  for (const [name, all] of Object.entries({ missed, online, acknowledged }) as [keyof Lists, readonly string[]][])
    for (const uid of all) {
      const length = Buffer.byteLength(JSON.stringify(uid)) + 1;
      if (bytes + length > partBytes) {
        yield { ...lists, isPlayed: false, isDone: false };
        lists = emptyLists();
        bytes = 0;
      }
      lists[name].push(uid);
      bytes += length;
    }
  yield { ...lists, isPlayed, isDone };
}

type Lists = { online: string[]; missed: string[]; acknowledged: string[] };

function emptyLists(): Lists {
  return { online: [], missed: [], acknowledged: [] };
}
