const bits = 2 ** 20;

/** Creates a set of texts that takes 128 KiB however many it holds, and may take a few of those that it does not hold for others. */
export function createRoughSet() {
  const words = new Uint32Array(bits / 32);
  const bitOf = (text: string) => Bun.hash.xxHash32(text) % bits;
  return {
    add(text: string): void {
      const bit = bitOf(text);
      words[bit >>> 5] = (words[bit >>> 5] ?? 0) | (1 << (bit & 31));
    },
    /** True for all that were added, and rarely for others. */
    mayHave(text: string): boolean {
      const bit = bitOf(text);
      return ((words[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0;
    },
  };
}
