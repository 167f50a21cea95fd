/** Settles like `work`, or rejects with `explanation` after `ms`. */
export async function inTime<Result>(work: Promise<Result>, ms: number, explanation: string): Promise<Result> {
  const { promise: overdue, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(explanation)), ms);
  try {
    return await Promise.race([work, overdue]);
  } finally {
    clearTimeout(timer);
  }
}
