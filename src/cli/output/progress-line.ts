/** A line on stderr that says how far something is, on a terminal only. */
export type ProgressLine = {
  /** Counts bytes that were sent or received. */
  addBytes(bytes: number): void;
  /** So many units are done. */
  reach(units: number): void;
  /** Removes the line, so that other text can be written. */
  clear(): void;
  /** How long it took, and how fast it was, as the end of a sentence. */
  summary(): string;
};

type Options = { totalBytes: number | undefined; unit: string };

const drawEveryMs = 200;

/** Starts a progress line. */
export function createProgressLine({ totalBytes, unit }: Options): ProgressLine {
  const isShown = process.stderr.isTTY === true;
  const startedAt = performance.now();
  let [bytes, units, drawnAt, isDrawn] = [0, 0, 0, false];

  const seconds = () => (performance.now() - startedAt) / 1000;
  const rate = () => Math.round(units / Math.max(0.001, seconds())).toLocaleString("en-US");

  function draw(): void {
    if (!isShown || performance.now() - drawnAt < drawEveryMs) return;
    drawnAt = performance.now();
    isDrawn = true;
    process.stderr.write(`\r\u001b[K${units.toLocaleString("en-US")} ${unit}, ${rate()}/s${leftOf()}`);
  }

  function leftOf(): string {
    if (totalBytes === undefined || bytes === 0 || totalBytes === 0) return "";
    const left = (seconds() * Math.max(0, totalBytes - bytes)) / bytes;
    return `, ${Math.floor((100 * bytes) / totalBytes)} %, ${durationOf(left)} left`;
  }

  return {
    addBytes(more) {
      bytes += more;
      draw();
    },
    reach(done) {
      units = done;
      draw();
    },
    clear() {
      if (isDrawn) process.stderr.write("\r\u001b[K");
      isDrawn = false;
    },
    summary: () => ` in ${durationOf(seconds())} (${rate()}/s)`,
  };
}

/** A duration in seconds, for people: `42 s`, or `3 min 20 s`. */
function durationOf(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds));
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
