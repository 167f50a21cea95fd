import { HeraldError } from "../../../src/contract/errors/errors.ts";
import { parseJson } from "../../../src/contract/requests.ts";
import { findJsonFault } from "./json-position.ts";

/** What is wrong with a text that should be a JSON object; `index` is where, if it is one place. */
export type TextFault = { detail: string; index: number | undefined };

const maxDepth = 31; // the server's 32 with the request around it; a server that takes less says so itself

/** Reads the text of `x` as the server would: what it would refuse, or what parsing would alter, is refused here. */
export function readObject(text: string): { value: Record<string, unknown> } | { fault: TextFault } {
  if (text.trim() === "") return { value: {} };
  const fault = findJsonFault(text);
  if (fault !== undefined) {
    const { index, line, column, expected } = fault;
    return { fault: { detail: `Line ${line}, column ${column}: expected ${expected}.`, index } };
  }
  try {
    const value = parseJson(text, maxDepth);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { value: value as Record<string, unknown> };
    return { fault: { detail: 'Must be an object, such as {"priority": 1}.', index: 0 } };
  } catch (error) {
    if (!(error instanceof HeraldError)) throw error;
    return { fault: { detail: error.message, index: undefined } };
  }
}
