import { isObject, parseJson } from "../../lib/json/json-values.ts";
import { type ErrorCode, errorCatalogue } from "../errors/errors.ts";

/** The answer to the request of a tool. */
export type ToolAnswer = { status: number; retryAfter?: string | undefined; text: string };

/** What a tool returns (MCP, `CallToolResult`). */
export type ToolResult = {
  content: { type: "text"; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: true;
};

/** A longer answer would fill the context of most models. */
const mostCharacters = 100_000;

/** The result of a tool: what was answered, also as structured content; a problem as an error that says what to do. */
export function toolResultOf(answer: ToolAnswer, isReadOnly: boolean): ToolResult {
  const { status, text } = answer;
  const value = parseJson(text);
  if (status >= 300) return toolError(describeProblem(answer, isObject(value) ? value : {}));
  if (text === "") return { content: [{ type: "text", text: `Done (${status}).` }] };
  if (isReadOnly && text.length > mostCharacters) return toolError(tooLong(text));
  return { content: [{ type: "text", text }], ...(isObject(value) && { structuredContent: value }) };
}

/** The result of a tool that failed. */
export function toolError(text: string): ToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

/** Why a long answer is not returned. */
export function tooLong({ length }: string): string {
  return `The answer has ${length} characters, and at most ${mostCharacters} are returned. Ask for less, for example with a smaller \`limit\`.`;
}

/** Whether an answer that only reads is too long to be returned. */
export function isTooLong({ length }: string): boolean {
  return length > mostCharacters;
}

/** A problem (RFC 9457) in words, with the advice of the catalogue. */
export function describeProblem({ status, retryAfter, text }: ToolAnswer, problem: Record<string, unknown>): string {
  const { code, title, detail, errors, request_id: requestId } = problem;
  if (typeof code !== "string") return `${status}: ${text.slice(0, 1_000)}`;
  const faults = Array.isArray(errors) ? errors.filter(isObject) : [];
  return [
    `${status} ${code}: ${title}.`,
    `${detail}`,
    ...faults.map(({ pointer, detail: fault }) => `- ${pointer}: ${fault}`),
    ...(isKnown(code) ? adviceBeyond(String(detail), errorCatalogue[code].advice) : []),
    ...(retryAfter === undefined ? [] : [`Try again in ${retryAfter} s.`]),
    `Request id: ${requestId}`,
  ].join("\n");
}

/** The advice, unless the detail gives it already. */
function adviceBeyond(detail: string, advice: string): string[] {
  const core = advice.replace(/\.$/, "").toLowerCase();
  return detail.toLowerCase().includes(core) ? [] : [`What to do: ${advice}`];
}

function isKnown(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code);
}
