const parts = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const;
const clock = new Intl.DateTimeFormat("en-GB", parts);
const exactClock = new Intl.DateTimeFormat("en-GB", { ...parts, fractionalSecondDigits: 3 });
const day = new Intl.DateTimeFormat("en-GB", { year: "numeric", month: "short", day: "numeric" });

/** The time of day in the reader's time zone, `21:50:26`. */
export function timeOfDay(at: number | Date): string {
  return clock.format(at);
}

/** A time in the reader's time zone, with the date unless it is today, and with milliseconds if `isExact`. `title` has the original. */
export function Time({ at, isExact }: { at: string; isExact?: boolean }) {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const time = (isExact === true ? exactClock : clock).format(date);
  return (
    <time dateTime={at} title={at}>
      {isToday ? time : `${day.format(date)}, ${time}`}
    </time>
  );
}

/** A time, or that it never comes or came. */
export function TimeOrNever({ at }: { at: string | null }) {
  return at === null ? <>never</> : <Time at={at} />;
}

/** The time since then, in one unit: `12 s`, `3 min`, `5 h`, `8 d`. */
export function age(at: string, now: number = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}
