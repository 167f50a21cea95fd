import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { useConsole } from "../../state/context.ts";
import { timeOfDay } from "../time.tsx";

/** A value at a time in milliseconds; `null` leaves a gap. */
export type Point = { at: number; value: number | null };

type ChartProps = {
  title: string;
  /** The values of the last half an hour at most, oldest first. */
  points: readonly Point[];
  unit: string;
  hint?: string;
  /** Where the number leads. */
  href?: string;
};

const width = 240;
const height = 56;
const shortestMs = 120_000;
const longestMs = 30 * 60_000;
const gapMs = 40_000; // nobody looked for so long

/** A number with only its significant digits. */
export function shorten(value: number): string {
  if (value === 0) return "0";
  if (value < 10) return value.toFixed(1).replace(/\.0$/, "");
  return Math.round(value).toLocaleString("en-GB");
}

/** The latest value as a number, and what was before as a line. Screen readers announce numbers. */
export function Chart({ title, points: all, unit, hint, href }: ChartProps) {
  const id = useId();
  const { asOf } = useConsole();
  const { value: last = null, at: now = 0 } = all.at(-1) ?? {};
  const points = all.filter(({ at }) => now - at <= longestMs);
  const windowMs = Math.max(shortestMs, now - (points[0]?.at ?? now));
  const known = points.flatMap(({ value }) => value ?? []);
  const most = Math.max(0, ...known);
  const top = niceTop(most);
  const x = (at: number) => width - (now - at) * (width / windowMs);
  const y = (value: number) => height - 1 - (value / top) * (height - 4);
  const lines = segments(points).map((line) => line.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`));
  const time = asOf === undefined ? unit : `${unit === "now" ? "" : `${unit}, `}as of ${timeOfDay(asOf)}`;
  const told = last === null ? "no data yet" : `${shorten(last)} ${time}`;
  const peak = `peak ${shorten(most)}${unit === "now" ? "" : ` ${unit}`}, ${spanOf(now - (points[0]?.at ?? now))}`;
  return (
    <figure class="chart">
      <figcaption id={id}>{title}</figcaption>
      <p class="figure">
        <Figure href={href} name={`${title}: ${told}`}>
          {last === null ? <span class="quiet">–</span> : shorten(last)}
        </Figure>{" "}
        <span class="unit">{time}</span>
      </p>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${told}; ${peak}`}
      >
        <line class="base" x1="0" x2={width} y1={height - 0.5} y2={height - 0.5} />
        {lines.map((line) => (
          <g key={line[0]}>
            <polygon
              points={`${line[0]?.split(",")[0]},${height} ${line.join(" ")} ${line.at(-1)?.split(",")[0]},${height}`}
            />
            <polyline points={line.join(" ")} />
          </g>
        ))}
      </svg>
      <p class="fine">{hint ?? peak}</p>
    </figure>
  );
}

function Figure({ href, name, children }: { href: string | undefined; name: string; children: ComponentChildren }) {
  if (href === undefined) return <>{children}</>;
  return (
    <a href={href} aria-label={name}>
      {children}
    </a>
  );
}

/** The smallest of 1, 2 or 5 times a power of ten that is not less than the value. */
function niceTop(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return [1, 2, 5, 10].map((times) => times * power).find((top) => top >= most) ?? most;
}

/** For how long there are values: `last 40 s`, `last 30 min`. */
function spanOf(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds > 110 ? `last ${Math.round(seconds / 60)} min` : `last ${seconds} s`;
}

function segments(points: readonly Point[]): [at: number, value: number][][] {
  const lines: [number, number][][] = [];
  let line: [number, number][] | undefined;
  let before = 0;
  for (const { at, value } of points) {
    if (at - before > gapMs) line = undefined;
    before = at;
    if (value === null) line = undefined;
    else {
      if (line === undefined) {
        line = [];
        lines.push(line);
      }
      line.push([at, value]);
    }
  }
  return lines;
}
