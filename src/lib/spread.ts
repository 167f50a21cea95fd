/** Acts on each item, one after another, evenly over `ms`. */
export async function spread<Item>(items: Item[], ms: number, act: (item: Item) => void): Promise<void> {
  await Promise.all(
    items.map(async (item, index) => {
      await Bun.sleep((index / items.length) * ms);
      act(item);
    }),
  );
}
