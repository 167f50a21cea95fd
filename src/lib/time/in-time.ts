/** Settles like `work`, or rejects with `explanation`, or an error that says so, after `ms`. */
export async function inTime<Result>(work: Promise<Result>, ms: number, explanation: string | Error): Promise<Result> {
  const { promise: overdue, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(explanation instanceof Error ? explanation : new Error(explanation)), ms);
  try {
    return await Promise.race([work, overdue]);
  } finally {
    clearTimeout(timer);
  }
}
