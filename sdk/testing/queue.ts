/** What happened, in order; `next` waits for it. */
export type Queue<Item> = {
  push(item: Item): void;
  next(): Promise<Item>;
  take(count: number): Promise<Item[]>;
  readonly length: number;
};

/** Makes an empty queue. */
export function createQueue<Item>(): Queue<Item> {
  const items: Item[] = [];
  const waiting: ((item: Item) => void)[] = [];
  function next(): Promise<Item> {
    const first = items.shift();
    return first === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(first);
  }
  return {
    next,
    take: (count) => Promise.all(Array.from({ length: count }, next)),
    push(item) {
      const first = waiting.shift();
      if (first === undefined) items.push(item);
      else first(item);
    },
    get length() {
      return items.length;
    },
  };
}
