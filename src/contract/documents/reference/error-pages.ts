import { STATUS_CODES } from "node:http";
import { type ErrorCode, errorCatalogue } from "../../errors/errors.ts";
import { errorExplanations } from "../../errors/explanations.ts";
import { exampleError, problemExample } from "../../errors/operation-errors.ts";
import { type Problem, problemDocument } from "../../errors/problem.ts";
import type { Operations } from "../../operations/all.ts";
import { requestIdExample } from "../examples.ts";
import { explained } from "./explained.ts";
import { type Html, html, json, prose } from "./html.ts";
import { codeBlock, examples, type Page } from "./layout.ts";
import { errorCodes, errorPath } from "./paths.ts";
import { returnedBy } from "./returned-by.ts";

/** `/docs/errors/<code>`: a page for each error. */
export function errorPages(operations: Operations): Page[] {
  return errorCodes.map((code) => errorPage(code, operations));
}

function errorPage(code: ErrorCode, operations: Operations): Page {
  const { status, title } = errorCatalogue[code];
  const explanation = errorExplanations[code];
  const returning = returnedBy(code, operations);
  return {
    path: errorPath(code),
    title: code,
    entries: [
      { id: "why", label: "Why it happens" },
      { id: "what-to-do", label: "What to do" },
      { id: "example", label: "How it looks" },
      ...(returning === undefined ? [] : [{ id: "returned-by", label: "Operations" }]),
      {
        href: "/docs/errors",
        label: "All errors",
        entries: errorCodes.map((other) => ({ href: errorPath(other), label: other })),
      },
    ],
    main: html`<p class="quiet"><a href="/docs/errors#${code}">Errors</a> · ${status} ${STATUS_CODES[status]}</p>
<h1><code>${code}</code></h1>
<p class="lead">${title}.</p>
<p>${prose(explanation.meaning)}</p>
<p>${prose(retryNote(code))}</p>
${explained(explanation)}
<section id="example"><h2><a href="#example">How it looks</a></h2>
${exampleOf(code, operations)}</section>
${
  returning === undefined
    ? undefined
    : html`<section id="returned-by"><h2><a href="#returned-by">Operations</a></h2>
${returning}</section>`
}`,
  };
}

function retryNote(code: ErrorCode): string {
  const { status } = errorCatalogue[code];
  if (status === 429 || (status >= 500 && code !== "not_supported"))
    return "The same request may succeed later. Retry it with the same id.";
  return "The same request fails again as long as nothing changes. Do not retry it unchanged.";
}

function exampleOf(code: ErrorCode, { sendMessage }: Operations): Html {
  const error = exampleError(code);
  if (code === "not_supported") {
    const shown = { status: error.status, code, message: error.message };
    return examples(codeBlock("On a WebSocket", json({ response: { id: "1", error: shown } })));
  }
  const problem: Problem =
    code === "invalid_request" ? problemExample(code, sendMessage) : problemDocument(error, requestIdExample);
  const headers = Object.entries({
    "Content-Type": "application/problem+json",
    ...error.headers,
    "X-Request-Id": requestIdExample,
  }).map(([name, value]) => `${name}: ${value}\n`);
  return examples(
    codeBlock(
      "Response",
      html`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\n${headers}\n${json(problem)}`,
      "wrapped",
    ),
  );
}
