import { CliError, exitCodes } from "../exit-codes.ts";
import { printableLine } from "../output/printable.ts";

/** Whether somebody can answer questions: standard input is a terminal. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true;
}

/** Asks a question on the terminal, and returns the answer. With `isHidden`, the terminal does not show it. */
export async function ask(question: string, { isHidden = false }: { isHidden?: boolean } = {}): Promise<string> {
  const { stdin } = process;
  if (isHidden) stdin.setRawMode(true); // before the question, because the answer may follow at once
  process.stderr.write(question);
  try {
    return await readAnswer(isHidden);
  } finally {
    if (isHidden) {
      stdin.setRawMode(false);
      process.stderr.write("\n");
    }
    stdin.pause();
  }
}

/** Asks whether to delete `what`, unless `yes`. Throws a `CliError` if the answer is no, or if nobody can answer. */
export async function confirmDeletion(what: string, url: string, { yes }: { yes?: true }): Promise<void> {
  if (yes) return;
  if (!canAsk()) throw new CliError(exitCodes.usage, `nothing is deleted without a confirmation. Add --yes.`);
  const answer = await ask(`${printableLine(`Delete ${what} on ${url}?`)} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError(exitCodes.usage, "nothing was deleted.");
}

/** Reads all of standard input as one line. Throws a `CliError` if it is empty, or too long for what is asked for. */
export async function readLine(what: string): Promise<string> {
  const text = (await Bun.stdin.text()).trim();
  if (text === "") throw new CliError(exitCodes.usage, `no ${what} given: standard input is empty.`);
  if (/\s/.test(text)) throw new CliError(exitCodes.usage, `standard input is more than one ${what}.`);
  return text;
}

/** Reads a text from standard input and drops one trailing line break. Throws `CliError` if it is not UTF-8. */
export async function readStandardInput(): Promise<string> {
  let text = "";
  for await (const piece of readPieces()) text += piece;
  return text;
}

/** Reads a text from standard input as it comes, without one trailing line break. Throws `CliError` once it is not UTF-8. */
export async function* readPieces(): AsyncGenerator<string, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const decode = (...input: Parameters<TextDecoder["decode"]>) => {
    try {
      return decoder.decode(...input);
    } catch {
      const detail = "standard input is not valid UTF-8. Convert it first, for example with iconv.";
      throw new CliError(exitCodes.usage, detail);
    }
  };
  let lineBreak = "";
  for await (const bytes of Bun.stdin.stream()) {
    const text = lineBreak + decode(bytes, { stream: true });
    [lineBreak = ""] = /\r?\n$|\r$/.exec(text) ?? [];
    yield text.slice(0, text.length - lineBreak.length);
  }
  decode();
  if (lineBreak === "\r") yield lineBreak;
}

/** Reads to the end of the line. In raw mode, edits and interrupts are ours to handle. */
async function readAnswer(isRaw: boolean): Promise<string> {
  const { stdin } = process;
  stdin.setEncoding("utf8");
  let answer = "";
  for await (const chunk of stdin) {
    for (const character of String(chunk)) {
      if (character === "\r" || character === "\n") return answer;
      if (isRaw && (character === interrupt || (character === endOfInput && answer === "")))
        throw new CliError(exitCodes.usage, "cancelled.");
      if (isRaw && erasers.includes(character)) answer = answer.slice(0, -1);
      else if (!isRaw || character >= " ") answer += character;
    }
  }
  return answer;
}

const interrupt = "\u0003";
const endOfInput = "\u0004";
const erasers = ["\u007f", "\b"];
