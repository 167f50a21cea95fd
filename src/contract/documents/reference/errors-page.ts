import { STATUS_CODES } from "node:http";
import { type ErrorCode, errorCatalogue } from "../../errors/errors.ts";
import { errorHeaders, exampleError } from "../../errors/operation-errors.ts";
import { problemDocument, problemSchema } from "../../errors/problem.ts";
import type { Operations } from "../../operations/all.ts";
import { requestIdExample } from "../examples.ts";
import { createSchemaCollector } from "../json-schema.ts";
import { fieldsTable } from "./fields.ts";
import { type Html, html, json, prose } from "./html.ts";
import { codeBlock, examples, type Page } from "./layout.ts";
import { errorPath } from "./paths.ts";
import { returnedBy } from "./returned-by.ts";

/** `/docs/errors`: every code, under the anchor that the `type` of a problem links to. */
export function errorsPage(operations: Operations): Page {
  const codes = catalogueByStatus();
  const byStatus = Map.groupBy(codes, (code) => errorCatalogue[code].status);
  const schemas = createSchemaCollector();
  const example = problemDocument(exampleError("conversation_not_found"), requestIdExample);
  return {
    path: "/docs/errors",
    title: "Errors",
    entries: [
      { id: "shape", label: "What an error looks like" },
      ...[...byStatus].map(([status, group]) => ({
        id: `status-${status}`,
        label: String(status),
        entries: group.map((code) => ({ id: code, label: code })),
      })),
    ],
    main: html`<h1>Errors</h1>
<p class="lead">Every error is a problem document (RFC 9457). Programs act on <code>code</code>. For people, <code>detail</code> explains what went wrong, and <code>type</code> links to this page.</p>
<section id="shape"><h2><a href="#shape">What an error looks like</a></h2>
${fieldsTable("Members of an error", schemas.add(problemSchema, "output"), schemas.schemas)}
${examples(codeBlock("application/problem+json", json(example)))}</section>
${[...byStatus].map(
  ([
    status,
    group,
  ]) => html`<section id="status-${status}"><h2><a href="#status-${status}">${status} ${STATUS_CODES[status]}</a></h2>
${headerNote(status)}
${group.map((code) => describe(code, operations))}</section>`,
)}`,
  };
}

/** Every code, by status; codes of one status are in catalogue order. */
export function catalogueByStatus(): ErrorCode[] {
  return problemSchema.shape.code.options.toSorted(
    (left, right) => errorCatalogue[left].status - errorCatalogue[right].status,
  );
}

function headerNote(status: number): Html | undefined {
  const headers = errorHeaders[status];
  if (headers === undefined) return undefined;
  return html`<p>Sent with ${headers.map((name, index) => html`${index === 0 ? "" : ", "}<code>${name}</code>`)}.</p>`;
}

function describe(code: ErrorCode, operations: Operations): Html {
  const { title, advice } = errorCatalogue[code];
  return html`<section class="operation" id="${code}">
<h3><a href="#${code}"><code>${code}</code></a></h3>
<p>${prose(title)}.</p>
<p><strong>What to do:</strong> ${prose(advice)} <a href="${errorPath(code)}">Causes, remedies and an example</a></p>
${returnedBy(code, operations)}
</section>`;
}
