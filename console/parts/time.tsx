const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" });

/** A moment in the reader's own time; the exact one is in `title`. */
export function Time({ at }: { at: string }) {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return (
    <time dateTime={at} title={at}>
      {isToday ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`}
    </time>
  );
}

/** How long ago, in one unit: `12 s`, `3 min`, `5 h`, `8 d`. */
export function age(at: string, now: number = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}
