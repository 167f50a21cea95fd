const drawEveryMs = 200;

/** A line on stderr that says how far something is, on a terminal only. */
export type ProgressLine = ReturnType<typeof createProgressLine>;

/** Starts a progress line. `totalBytes` is how many there will be, if that is known. */
export function createProgressLine(totalBytes?: number) {
  const isShown = process.stderr.isTTY === true;
  const startedAt = performance.now();
  let [bytes, lines, drawnAt, isDrawn] = [0, 0, 0, false];

  const seconds = () => (performance.now() - startedAt) / 1000;
  const rate = () => Math.round(lines / Math.max(0.001, seconds())).toLocaleString("en-US");

  function draw(): void {
    if (!isShown || performance.now() - drawnAt < drawEveryMs) return;
    drawnAt = performance.now();
    isDrawn = true;
    process.stderr.write(`\r\u001b[K${lines.toLocaleString("en-US")} lines, ${rate()}/s${leftOf()}`);
  }

  function leftOf(): string {
    if (totalBytes === undefined || bytes === 0 || totalBytes === 0) return "";
    const left = (seconds() * Math.max(0, totalBytes - bytes)) / bytes;
    return `, ${Math.floor((100 * bytes) / totalBytes)} %, ${durationOf(left)} left`;
  }

  return {
    /** Counts bytes that were sent or received. */
    addBytes(more: number) {
      bytes += more;
      draw();
    },
    /** So many lines are done. */
    reach(done: number) {
      lines = done;
      draw();
    },
    /** Removes the line, so that other text can be written. */
    clear() {
      if (isDrawn) process.stderr.write("\r\u001b[K");
      isDrawn = false;
    },
    /** How long it took, and how fast it was, as the end of a sentence. */
    summary: () => ` in ${durationOf(seconds())} (${rate()}/s)`,
  };
}

/** A duration in seconds, for people: `42 s`, or `3 min 20 s`. */
function durationOf(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds));
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
