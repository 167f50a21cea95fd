import { useId } from "preact/hooks";

type ChartProps = {
  title: string;
  /** The values, oldest first, two seconds apart. `null` leaves a gap. */
  values: readonly (number | null)[];
  unit: string;
  hint?: string;
};

const width = 240;
const height = 56;
const slots = 60;

/** A number with only its significant digits. */
export function shorten(value: number): string {
  if (value === 0) return "0";
  if (value < 10) return value.toFixed(1).replace(/\.0$/, "");
  return Math.round(value).toLocaleString("en-GB");
}

/** The latest value as a number and the last two minutes as a line. Screen readers announce numbers. */
export function Chart({ title, values, unit, hint }: ChartProps) {
  const id = useId();
  const known = values.filter((value) => value !== null);
  const last = values.at(-1) ?? null;
  const most = Math.max(0, ...known);
  const top = niceTop(most);
  const x = (index: number) => width - (values.length - 1 - index) * (width / (slots - 1));
  const y = (value: number) => height - 1 - (value / top) * (height - 4);
  const lines = segments(values).map((line) =>
    line.map(([index, value]) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`),
  );
  const told = last === null ? "no data yet" : `${shorten(last)} ${unit}`;
  return (
    <figure class="chart">
      <figcaption id={id}>{title}</figcaption>
      <p class="figure">
        {last === null ? <span class="quiet">–</span> : shorten(last)} <span class="unit">{unit}</span>
      </p>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${told}; peak of the last two minutes ${shorten(most)}`}
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
      <p class="fine">{hint ?? `peak ${shorten(most)}`}</p>
    </figure>
  );
}

/** The smallest of 1, 2 or 5 times a power of ten that is not less than the value. */
function niceTop(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return [1, 2, 5, 10].map((times) => times * power).find((top) => top >= most) ?? most;
}

function segments(values: readonly (number | null)[]): [index: number, value: number][][] {
  const lines: [number, number][][] = [];
  let line: [number, number][] = [];
  for (const [index, value] of values.entries()) {
    if (value === null) line = [];
    else {
      if (line.length === 0) lines.push(line);
      line.push([index, value]);
    }
  }
  return lines;
}
