import { type JsonProblem, scanJson } from "./json-scan.ts";

/** A JSON text read without altering it, or why it cannot be. */
export type JsonReading =
  | { outcome: "value"; value: unknown }
  | { outcome: "malformed"; detail: string }
  | { outcome: "altered"; problems: JsonProblem[] };

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Decodes UTF-8, refusing what is not. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Scans JSON text, then parses it. Nothing that parsing would change, and nothing too deep, gets through. */
export function readJson(text: string, maxDepth: number): JsonReading {
  const problems = scanJson(text, maxDepth);
  const isTooDeep = problems[0]?.pointer === "" && problems.length === 1;
  if (isTooDeep) return { outcome: "altered", problems };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { outcome: "malformed", detail: error instanceof Error ? error.message : "not JSON" };
  }
  return problems.length > 0 ? { outcome: "altered", problems } : { outcome: "value", value };
}
