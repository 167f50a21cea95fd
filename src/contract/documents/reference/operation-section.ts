import { errorCatalogue } from "../../errors/errors.ts";
import { errorCodesOf } from "../../errors/operation-errors.ts";
import type { Operation, OperationAnswer } from "../../operations/operation.ts";
import { refName, type SchemaCollector } from "../json-schema.ts";
import { curl } from "./curl.ts";
import { fieldsTable, joined, objectLink } from "./fields.ts";
import { type Html, html, json, prose } from "./html.ts";
import { addressOf, codeBlock, examples, folded } from "./layout.ts";
import { errorPath, objectsPath } from "./paths.ts";

/** A section about an operation, of which readers see what it does and its address until they open it. */
export function operationSection(operation: Operation, schemas: SchemaCollector): Html {
  const { operationId, summary, description, body, isBodyOptional } = operation;
  const table = (title: string, fields: Html | undefined) =>
    fields === undefined ? undefined : html`<h4>${title}</h4>${fields}`;
  const fieldsOf = (place: string, schema: Operation["params"]) =>
    fieldsTable(`${place} of ${operationId}`, schemas.add(schema, "input"), schemas.schemas, objectsPath);
  return html`<section class="operation" id="${operationId}">
<h3><a href="#${operationId}">${summary}</a></h3>
${folded(
  addressOf(operation),
  html`${description === undefined ? undefined : html`<p>${prose(description)}</p>`}
${neededKey(operation.scope)}
${table("Path", fieldsOf("Path", operation.params))}
${table("Query", fieldsOf("Query", operation.query))}
${operation.requestHeaders === undefined ? undefined : table("Headers", fieldsOf("Headers", operation.requestHeaders))}
${body === undefined ? undefined : table(isBodyOptional ? "Body (optional)" : "Body", fieldsOf("Body", body))}
${examples(codeBlock("Request", curl(operation)))}
<h4>Responses</h4>
${answerList(operation, schemas)}
${examples(...answerExamples(operation))}
<h4>Errors</h4>
<ul class="codes">${errorCodesOf(operation).map(
    (code) =>
      html`<li><span class="status">${errorCatalogue[code].status}</span> <a href="${errorPath(code)}">${code}</a></li>`,
  )}</ul>`,
)}</section>`;
}

function answerList({ answers }: Operation, schemas: SchemaCollector): Html {
  const items = Object.entries(answers).map(([status, { description, schema, headers = {} }]) => {
    const ref = schema === undefined ? undefined : schemas.add(schema, "output").$ref;
    const notes = Object.entries(headers).map(([name, note]) => html` Header <code>${name}</code>: ${prose(note)}.`);
    return html`<li><span class="status">${status}</span> ${prose(description)}${
      ref === undefined ? undefined : html` ${objectLink(refName(ref), objectsPath)}.`
    }${notes}</li>`;
  });
  return html`<ul class="answers">${items}</ul>`;
}

/** The examples of the responses. Identical ones are shown once. */
function answerExamples({ answers }: Operation): Html[] {
  const byText = Map.groupBy(
    Object.entries(answers).filter(([, { example }]) => example !== undefined),
    ([, { example }]) => JSON.stringify(example),
  );
  return [...byText.values()].map((same) =>
    codeBlock(`Response, ${same.map(([status]) => status).join(" or ")}`, exampleOf(same[0]?.[1])),
  );
}

function neededKey(scope: Operation["scope"]) {
  if (scope === undefined) return undefined;
  if (scope === "any") return html`<p>Requires a key with any scope.</p>`;
  const links = [scope].flat().map((one) => html`<a href="/docs#scopes"><code>${one}</code></a>`);
  return html`<p>Requires a key with the scope ${joined(links)}.</p>`;
}

/** The example of a response, as JSON unless it is text. */
function exampleOf(answer: OperationAnswer | undefined): Html | string {
  return typeof answer?.example === "string" ? answer.example : json(answer?.example);
}
