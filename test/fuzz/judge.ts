import { closeCodes } from "../../src/contract/connections/close-codes.ts";
import { errorCatalogue } from "../../src/contract/errors/errors.ts";
import type { Outcome } from "./exchange.ts";
import type { HttpCase } from "./http-case.ts";
import type { SocketCase } from "./socket-case.ts";

/** How a response is counted, and what is wrong with it, if anything. */
export type Verdict = { answer: string; fault: string | undefined };

const catalogue: Record<string, { status: number }> = errorCatalogue;

/**
 * Statuses with which Bun itself responds, without a body, before Herald sees a request
 * (docs/decisions/checks/0023-hostile-input.md).
 */
const ofTheRuntime = new Set([400, 413, 431, 501, 505]);

/** Requests that two parties could read differently: nobody may serve them. */
const ambiguous = new Set([
  "two lengths that differ",
  "two lengths that agree",
  "a length and chunks",
  "odd chunks",
  "bare line feeds",
  "an odd transfer coding",
  "an odd length",
]);

/**
 * Codes of RFC 6455 (7.4.1) for clients that break it, or that close; 1005 stands for no code. The others are the
 * contract's.
 */
const ofTheProtocol = [1000, 1002, 1005, 1007, 1009];
const documented = new Set<number | undefined>([
  ...ofTheProtocol,
  ...Object.values(closeCodes).map(({ code }) => code),
]);

/** What a number or a text that was not computed looks like in a header. */
const unprintedValue = /\b(NaN|Infinity|undefined|null)\b|\[object /;

/** Above this, Bun responds 431 before it has read everything, and closes: the network may then lose the response. */
const largestHeadBytes = 16 * 1024;

/**
 * Whether a body without a declared length may be left unread: that of a method that takes none, and one that comes slowly. Its
 * connection is closed with the response, while the client may still be writing: the network may then lose the response (RFC
 * 9112, section 9.6).
 */
function isCutOff({ kind, chunks, isSlow }: HttpCase): boolean {
  if (kind === "pieces of a message") return isSlow || chunks.length > 2; // a refused line is answered before the others are read
  if (kind !== "a hostile call in chunks") return false;
  return isSlow || /^(GET|HEAD) /.test(chunks[0]?.toString("latin1", 0, 5) ?? "");
}

/** Judges the outcome of an HTTP case. */
export function judgeHttp(given: HttpCase, outcome: Outcome): Verdict {
  const { kind, isHttp, chunks } = given;
  const { status, headers, body, answers, isHung } = outcome;
  if (isHung) return { answer: "nothing", fault: "it hung" };
  if (status === undefined) {
    const mustAnswer = isHttp && (chunks[0]?.length ?? 0) <= largestHeadBytes && !isCutOff(given);
    return { answer: "the end of the connection", fault: mustAnswer ? "no answer" : undefined };
  }
  if (ambiguous.has(kind) && (status < 400 || answers > 1))
    return { answer: `${status}`, fault: "an ambiguous request was served" };
  const odd = [...headers].find(([name, value]) => name !== "x-request-id" && unprintedValue.test(value));
  if (odd !== undefined) return { answer: `${status}`, fault: `the header ${odd.join(": ")}` };
  if (status < 400) {
    const fault = headers.has("x-request-id") ? faultOfLines(headers, body) : "an answer without X-Request-Id";
    return { answer: `${status}`, fault };
  }
  const isBeyondFile = status === 416 && body === "" && headers.has("content-range"); // RFC 9110, section 15.5.17
  if (isBeyondFile) return { answer: "416", fault: undefined };
  if (body === "" && ofTheRuntime.has(status)) return { answer: `${status} of the runtime`, fault: undefined };
  if (isHead(given)) return { answer: `${status}`, fault: faultOfHead(status, headers) };
  const problem = parse(body);
  const code = String(problem?.code);
  const answer = `${status} ${code}`;
  if (isOfMcp(given) && problem?.jsonrpc === "2.0") return judgeMcp(status, Object(problem.error));
  const fault = (what: string) => ({ answer, fault: what });
  if (catalogue[code]?.status !== status || problem?.status !== status)
    return fault("the status and the code are not those of the catalogue");
  if (status >= 500) return fault("a fault of the server");
  if (!headers.get("content-type")?.startsWith("application/problem+json"))
    return fault("an error that is no problem document");
  if (headers.get("x-request-id") !== problem.request_id) return fault("the request's id is not that of the header");
  if (status === 422 && !Array.isArray(problem.errors)) return fault("a 422 without errors");
  return { answer, fault: undefined };
}

/** What is wrong with an answer of lines: each is JSON, and a problem is one of the catalogue. */
function faultOfLines(headers: Outcome["headers"], body: string): string | undefined {
  if (!headers.get("content-type")?.startsWith("application/x-ndjson")) return undefined;
  const lines = body.split(/\r?\n/).filter((line) => line.startsWith("{"));
  const odd = lines.find((line) => !isLine(parse(line)));
  return odd === undefined ? undefined : `the line ${odd.slice(0, 200)}`;
}

function isLine(line: Record<string, unknown> | undefined): boolean {
  if (line === undefined) return false;
  const { code, status = 0 } = line;
  return code === undefined || (catalogue[String(code)]?.status === status && Number(status) < 500);
}

/** Whether a request goes to `/mcp`, whose SDK refuses what is no JSON-RPC in its own words. */
function isOfMcp({ chunks }: HttpCase): boolean {
  return /^\w+ \/mcp\b/.test(chunks[0]?.toString("latin1", 0, 20) ?? "");
}

function judgeMcp(status: number, { code }: { code?: unknown }): Verdict {
  return { answer: `${status} ${code}`, fault: status >= 500 ? "a fault of the server" : undefined };
}

function isHead({ chunks }: HttpCase): boolean {
  return chunks[0]?.toString("latin1", 0, 5) === "HEAD ";
}

/** What is wrong with the headers of an error that has no body. */
function faultOfHead(status: number, headers: Outcome["headers"]): string | undefined {
  if (status >= 500) return "a fault of the server";
  if (headers.get("content-type") !== "application/problem+json") return "an error that is no problem document";
  return headers.has("x-request-id") ? undefined : "an answer without X-Request-Id";
}

/** The outcome of a socket case: the texts received, and how it ended. */
export type SocketOutcome = { texts: readonly string[]; closeCode: number | undefined; isHung: boolean };

/**
 * Judges the outcome of a socket case. A client that closes with a code may be answered with that code (RFC 6455,
 * section 5.5.1).
 */
export function judgeSocket({ kind }: SocketCase, { texts, closeCode, isHung }: SocketOutcome): Verdict {
  if (isHung) return { answer: "nothing", fault: "it hung" };
  const answer = closeCode === undefined ? "cut" : `closed with ${closeCode}`;
  const isEchoed = kind.startsWith("an odd close") && closeCode !== undefined && isForClients(closeCode);
  if (closeCode === closeCodes.internal.code || !(documented.has(closeCode) || closeCode === undefined || isEchoed))
    return { answer, fault: "an undocumented close code" };
  for (const text of texts) {
    const frame = parse(text);
    const error = Object(frame?.response).error;
    if (frame === undefined) return { answer, fault: `a frame that is not JSON: ${text.slice(0, 200)}` };
    if (error === undefined) continue;
    const isFaulty = error.status >= 500 && error.code !== "not_supported";
    if (catalogue[error.code]?.status !== error.status || isFaulty)
      return { answer, fault: `an error that is not in the catalogue: ${text}` };
  }
  return { answer, fault: undefined };
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return Object(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Whether a client may send this code (RFC 6455, section 7.4.2). */
function isForClients(code: number): boolean {
  return code === 1001 || (code >= 3000 && code <= 4999);
}
