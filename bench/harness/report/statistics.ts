/** The value below which `share` (0 to 1) of the values lie, by nearest rank. `NaN` if there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  const rank = Math.max(1, Math.ceil(share * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

/** The median, the p99 and the maximum of durations, in milliseconds. */
export function spreadOf(times: readonly number[]): { p50Ms: number; p99Ms: number; maxMs: number } {
  return { p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99), maxMs: percentile(times, 1) };
}

/** The middle value, or the mean of the two in the middle. `NaN` if there are none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const upper = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[sorted.length % 2 === 0 ? upper - 1 : upper], sorted[upper]];
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
}

/**
 * The geometric mean of ratios, and its standard error as a share of it. `NaN` for the mean of none and the error of fewer
 * than two.
 */
export function meanRatio(ratios: readonly number[]): { mean: number; standardError: number } {
  const logs = ratios.map(Math.log);
  const center = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const squares = logs.reduce((sum, log) => sum + (log - center) ** 2, 0);
  return { mean: Math.exp(center), standardError: Math.sqrt(squares / (logs.length - 1) / logs.length) };
}
