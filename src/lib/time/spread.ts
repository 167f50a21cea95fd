/** Acts on each item in turn, spread evenly over `ms`. */
export async function spread<Item>(items: Item[], ms: number, act: (item: Item) => void): Promise<void> {
  await Promise.all(
    items.map(async (item, index) => {
      await new Promise((resolve) => setTimeout(resolve, (index / items.length) * ms)); // not Bun.sleep: the simulation fakes timers
      act(item);
    }),
  );
}
