import { type Hit, rankOf } from "./match.ts";
import type { Source } from "./source.ts";

type Listing<Item> = Omit<Source, "find"> & {
  read: () => Promise<{ items: Item[] }>;
  show: (item: Item) => { names: readonly (string | null)[]; title: string; note: string | undefined; href: string };
};

/** A source that reads a list once and searches it here. */
export function listSource<Item extends { id: string }>({ read, show, ...source }: Listing<Item>): Source {
  const list = readOnce(read);
  return {
    ...source,
    async find({ text }) {
      const { items } = await list();
      return items.flatMap((item): Hit[] => {
        const { id } = item;
        const { names, ...shown } = show(item);
        const rank = rankOf(text, { id, names });
        return rank === undefined ? [] : [{ kind: source.kind, id, rank, ...shown }];
      });
    },
  };
}

/** Reads once, and again only if it has failed. */
export function readOnce<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let reading: Promise<Value> | undefined;
  return () => {
    reading ??= read().catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
}
