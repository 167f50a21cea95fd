import type { CustomParameters } from "../../../sdk/types.ts";
import { HeraldError } from "../../../src/contract/errors/errors.ts";
import { parseStrictJson } from "../../../src/contract/requests.ts";
import { findJsonFault } from "./json-position.ts";

/** An error in a text that should be a JSON object. `index` is its position, if it has one. */
export type TextFault = { detail: string; index: number | undefined };

const maxDepth = 31; // the server's default of 32, less the request around `x`; a server with a lower limit reports it itself

/** Reads the text of `x` like the server: refuses what the server would refuse, and values that parsing would change. */
export function readObject(text: string): { value: CustomParameters } | { fault: TextFault } {
  if (text.trim() === "") return { value: {} };
  const fault = findJsonFault(text);
  if (fault !== undefined) {
    const { index, line, column, expected } = fault;
    return { fault: { detail: `Line ${line}, column ${column}: expected ${expected}.`, index } };
  }
  try {
    const value = parseStrictJson(text, maxDepth);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { value: value as CustomParameters };
    return { fault: { detail: 'Must be an object, such as {"priority": 1}.', index: 0 } };
  } catch (error) {
    if (!(error instanceof HeraldError)) throw error;
    return { fault: { detail: error.message, index: undefined } };
  }
}
