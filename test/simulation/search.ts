import { type Report, simulate, type Variant } from "./world.ts";

/** The time limit of a search, also of one in as many worlds as requested; Bun's own for tests is meant for shorter ones. */
export const searchTimeoutMs = 600_000 + 100 * Number(process.env.SIMULATION_SEEDS ?? 0);

/** Plays one world per seed, starting with `first`, and returns the first in which a promise was broken that reads like `sign`. */
export function findBroken(first: number, count: number, variant: Variant, sign = /./): Report | undefined {
  for (let seed = first; seed < first + count; seed++) {
    const report = simulate(seed, variant);
    if (report.broken.some((broken) => sign.test(broken))) return report;
  }
  return undefined;
}

/** Throws with what happened in the first world in which a promise was broken, and with how to repeat it. */
export function expectWhole(first: number, count: number, variant: Variant): void {
  const found = findBroken(first, count, variant);
  if (found === undefined) return;
  const { broken, trace } = simulate(found.seed, variant, true);
  const again = `TEST_SEED=${found.seed} bun test test/simulation`;
  throw new Error(`${trace.join("\n")}\n\nseed ${found.seed} breaks a promise:\n${broken.join("\n")}\n\n${again}`);
}
