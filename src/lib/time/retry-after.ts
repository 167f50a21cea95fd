const mostSeconds = 10 * 365 * 86_400;

/**
 * How long an answer asks to wait before the next try, in milliseconds: `Retry-After` in seconds or as a date (RFC 9110, section
 * 10.2.3), which counts from the `Date` of the answer, as clocks differ. `undefined` if it does not say so.
 */
export function retryAfterMs(
  { "retry-after": after = "", date = "" }: { "retry-after"?: string | undefined; date?: string | undefined },
  now: number,
): number | undefined {
  if (/^\d+$/.test(after)) return Number(after) <= mostSeconds ? Number(after) * 1000 : undefined;
  if (!/^[A-Z][a-z]{2,8},? /.test(after)) return undefined; // each of the three formats of dates begins with a day
  const [until, from] = [Date.parse(after), Date.parse(date)];
  return Number.isNaN(until) ? undefined : Math.max(0, until - (Number.isNaN(from) ? now : from));
}
