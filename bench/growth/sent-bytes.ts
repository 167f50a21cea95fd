import { table } from "../harness/report/report.ts";
import { median, percentile } from "../harness/report/statistics.ts";
import type { ReaderReport } from "../processes/readers.ts";
import type { Tally } from "./reader.ts";

const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;
const times = (ratio: number) => `${ratio.toFixed(2)} ×`;
const textOf = ({ pieceTextBytes, messageTextBytes }: Tally) => pieceTextBytes + messageTextBytes;
const allOf = ({ pieceBytes, messageBytes, answerBytes }: Tally) => pieceBytes + messageBytes + answerBytes;

const columns = [
  "listeners",
  "number",
  "text",
  "most",
  "frames of pieces",
  "all bytes",
  "most",
  "lists and other answers",
];

/** Those from the start are two kinds: some were cut off when a node was killed. */
function kindOf({ kind, tally }: ReaderReport): string {
  if (kind !== "start") return kind;
  return tally.connects === 1 ? "from the start" : "from the start, their node killed";
}

/**
 * Prints what each kind of reader was sent of a text of so many bytes. Returns the largest share of the text, and of answers that
 * may hold it, that a reader from the start was sent which was never cut off: 1 is the text once.
 */
export function printSentBytes(readers: readonly ReaderReport[], textBytes: number): number {
  const kinds = Map.groupBy(readers, kindOf);
  const rows = [...kinds.keys()].sort().map((kind) => {
    const tallies = (kinds.get(kind) ?? []).map(({ tally }) => tally);
    const texts = tallies.map((tally) => textOf(tally) / textBytes);
    return [
      kind,
      `${tallies.length}`,
      times(median(texts)),
      times(percentile(texts, 1)),
      `${Math.round(median(tallies.map(({ pieces }) => pieces)))}`,
      kilobytes(median(tallies.map(allOf))),
      kilobytes(percentile(tallies.map(allOf), 1)),
      kilobytes(median(tallies.map(({ answerBytes }) => answerBytes))),
    ];
  });
  console.log(table(columns, rows));
  const fromStart = readers.filter(({ kind }) => kind === "start").map(({ tally }) => textOf(tally) / textBytes);
  const mean = fromStart.reduce((sum, one) => sum + one, 0) / fromStart.length;
  console.log(`\nfrom the start, cut off or not: ${times(mean)} the text in the mean`);
  const uncut = kinds.get("from the start") ?? [];
  return percentile(
    uncut.map(({ tally }) => (textOf(tally) + tally.answerBytes) / textBytes),
    1,
  );
}
