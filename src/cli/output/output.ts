import { styleText } from "node:util";
import { printableJson } from "./printable.ts";

/** Styles text with a colour or weight. Returns it unchanged if colours are off. */
export type Style = Record<"bold" | "dim" | "red" | "cyan" | "magenta", (text: string) => string>;

/** The output of a command. Results go to stdout, notes for people to stderr. */
export type Output = {
  /** Writes a line of the result. */
  result(text: string): void;
  /** Writes a JSON object on a line of its own. */
  json(value: unknown): void;
  /** Writes a line for people, which is not part of the result. */
  note(text: string): void;
  /** Styles for results and for notes. Each applies only if its stream is a terminal. */
  resultStyle: Style;
  noteStyle: Style;
  /** Whether results go to a terminal. */
  isTerminal: boolean;
  /** How many characters fit on a line of that terminal, or `undefined` if results go elsewhere. */
  width: number | undefined;
};

/** The output of this process. Uses colours only on a terminal, and not if NO_COLOR is set (no-color.org). */
export function createOutput(): Output {
  return {
    result: (text) => void process.stdout.write(`${text}\n`),
    json: (value) => void process.stdout.write(`${printableJson(value)}\n`),
    note: (text) => void process.stderr.write(`${text}\n`),
    resultStyle: createStyle(hasColours(process.stdout)),
    noteStyle: createStyle(hasColours(process.stderr)),
    isTerminal: process.stdout.isTTY === true,
    width: process.stdout.isTTY === true ? process.stdout.columns || undefined : undefined,
  };
}

function hasColours(stream: { isTTY?: boolean }): boolean {
  return stream.isTTY === true && (process.env.NO_COLOR ?? "") === "" && process.env.TERM !== "dumb";
}

/** Creates styles for a terminal, or, if off, styles that change nothing. */
export function createStyle(isOn: boolean): Style {
  const style = (name: keyof Style) => (text: string) =>
    isOn ? styleText(name, text, { validateStream: false }) : text;
  return {
    bold: style("bold"),
    dim: style("dim"),
    red: style("red"),
    cyan: style("cyan"),
    magenta: style("magenta"),
  };
}
