import { CliError, exitCodes } from "../../exit-codes.ts";

/** Reads a text from standard input and drops one trailing line break. Throws `CliError` if it is not UTF-8. */
export async function readStandardInput(): Promise<string> {
  const bytes = await Bun.stdin.bytes();
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, "");
  } catch {
    throw new CliError(exitCodes.usage, "standard input is not valid UTF-8. Convert it first, for example with iconv.");
  }
}
