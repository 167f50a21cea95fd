const block = Uint8Array.from({ length: 65_521 }, (_, index) => (index * 31 + (index >> 8)) % 251); // a prime length

/** The bytes of a pattern that repeats at no even place. */
export function pattern(from: number, to: number): Uint8Array {
  return Uint8Array.from({ length: to - from }, (_, index) => block[(from + index) % block.length] ?? 0);
}

function* blocks(size: number): Generator<Uint8Array, void> {
  for (let from = 0; from < size; from += block.length) yield block.subarray(0, Math.min(block.length, size - from));
}

/** So many bytes of the pattern, made as they are read. */
export function patternStream(size: number): ReadableStream<Uint8Array> {
  const all = blocks(size);
  return new ReadableStream({
    pull(controller) {
      const { done, value } = all.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

/** The hash of so many bytes of the pattern, in hexadecimal. */
export function sha256OfPattern(size: number): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const one of blocks(size)) hash.update(one);
  return hash.digest("hex");
}
