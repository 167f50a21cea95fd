import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import { beginSlice } from "../../lib/event-loop/slice.ts";

/** The earliest time for each of many users. */
export type UserTimes = ReturnType<typeof createUserTimes>;

type List = { uids: readonly string[]; time: number };

/**
 * Creates an empty collection. The first search goes through the lists; an index, which takes as long again, is built
 * only for further ones. Both share the event loop.
 */
export function createUserTimes() {
  const index = new Map<string, number>();
  let indexing = Promise.resolve();
  let lists: List[] = [];
  let size = 0;
  let isSearched = false;

  async function addToIndex(): Promise<void> {
    const some = lists;
    lists = [];
    await visit(some, (uid, time) => setEarlier(index, uid, time));
  }

  return {
    /** How many users were added, counting those of each list. */
    get size() {
      return size;
    },
    add(uids: readonly string[], time: number): void {
      lists.push({ uids, time });
      size += uids.length;
    },
    /** The times of those of `uids` who have one. */
    async find(uids: readonly string[]): Promise<Map<string, number>> {
      const found = new Map<string, number>();
      if (isSearched) {
        indexing = indexing.then(addToIndex);
        await indexing;
        for (const uid of uids) {
          const time = index.get(uid);
          if (time !== undefined) found.set(uid, time);
        }
        return found;
      }
      isSearched = true;
      const wanted = new Set(uids);
      await visit(lists, (uid, time) => {
        if (wanted.has(uid)) setEarlier(found, uid, time);
      });
      return found;
    },
  };
}

/** Visits each user of the lists. */
async function visit(lists: readonly List[], take: (uid: string, time: number) => void): Promise<void> {
  let isOver = beginSlice();
  for (const { uids, time } of lists)
    for (const uid of uids) {
      take(uid, time);
      if (!isOver()) continue;
      await nextTurn();
      isOver = beginSlice();
    }
}

function setEarlier(times: Map<string, number>, uid: string, time: number): void {
  times.set(uid, Math.min(time, times.get(uid) ?? time));
}
