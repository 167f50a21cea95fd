import { errorCatalogue } from "../../errors/errors.ts";
import { errorCodesOf } from "../../errors/operation-errors.ts";
import { scopes } from "../../keys/scopes.ts";
import type { PayloadLimits } from "../../limits.ts";
import { createOperations } from "../../operations/all.ts";
import { type Operation, type OperationAnswer, operationTags } from "../../operations/operation.ts";
import { about, conventions, exampleHost, nestingRule } from "../about.ts";
import { createSchemaCollector, refName, type SchemaCollector } from "../json-schema.ts";
import { curl } from "./curl.ts";
import { fieldsTable, joined, objectLink, objectSections, referredIds } from "./fields.ts";
import { type Html, html, json, prose } from "./html.ts";
import { codeBlock, examples, type Page } from "./layout.ts";

/** `/docs`: an introduction, a first call, and every HTTP operation. */
export function httpPage(limits: PayloadLimits): Page {
  const operations = createOperations(limits);
  const schemas = createSchemaCollector();
  const groups = Object.entries(operationTags).map(([tag, description]) => {
    const members = Object.values<Operation>(operations).filter((operation) => operation.tag === tag);
    return { tag, description, members, sections: members.map((operation) => describe(operation, schemas)) };
  });
  const answerSchemas = Object.values<Operation>(operations)
    .flatMap(({ answers }) => Object.values(answers))
    .flatMap(({ schema }) => (schema === undefined ? [] : [schemas.add(schema, "output")]));
  const bodySchemas = Object.values<Operation>(operations)
    .flatMap(({ body }) => (body === undefined ? [] : [schemas.add(body, "input")]))
    .map((schema) => schemas.schemas[refName(schema.$ref ?? "")] ?? schema); // a table shows the body itself
  const objects = new Set(
    [...answerSchemas, ...bodySchemas].flatMap((schema) => [...referredIds(schema, schemas.schemas)]),
  );

  return {
    path: "/docs",
    title: "HTTP API",
    entries: [
      { id: "first-message", label: "A first message" },
      { id: "conventions", label: "Conventions" },
      { id: "scopes", label: "Scopes" },
      ...groups.map(({ tag, members }) => ({
        id: tag,
        label: tag,
        entries: members.map(({ operationId, summary }) => ({ id: operationId, label: summary })),
      })),
      { id: "objects", label: "Objects", entries: [...objects].sort().map((id) => ({ id, label: id })) },
    ],
    main: html`<h1>${about.title}</h1>
<p class="lead">${prose(about.introduction)}</p>
<section id="first-message"><h2><a href="#first-message">A first message</a></h2>
${firstMessage(operations.sendMessage, operations.createToken)}</section>
<section id="conventions"><h2><a href="#conventions">Conventions</a></h2>
<p>${prose(about.authentication)} ${prose(about.retries)}</p>
<ul>${[...conventions, ...nestingRule(limits), about.strictness].map((rule) => html`<li>${prose(rule)}</li>`)}</ul></section>
<section id="scopes"><h2><a href="#scopes">Scopes</a></h2>
<p>Scopes determine what a key may do. Each operation names the scope that it needs.</p>
<ul>${Object.entries(scopes).map(([scope, allows]) => html`<li><code>${scope}</code> ${prose(allows)}</li>`)}</ul></section>
${groups.map(
  ({ tag, description, sections }) => html`<section id="${tag}"><h2><a href="#${tag}">${tag}</a></h2>
<p>${prose(description)}</p>
${sections}</section>`,
)}
<section id="objects"><h2><a href="#objects">Objects</a></h2>
<p>The objects that requests and responses contain.</p>
${objectSections(objects, schemas.schemas)}</section>`,
  };
}

function firstMessage(send: Operation, createToken: Operation): Html {
  const token = curl({ ...createToken, bodyExample: undefined }).replace("curl ", "curl -s ");
  const listen = [
    `export HERALD=http://${exampleHost}`,
    "export HERALD_ADMIN_API_KEY=$(cat data/admin-api-key)",
    `TOKEN=$(${token} \\\n  | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`,
    'curl -N "$HERALD/sse" -H "Authorization: Bearer $TOKEN"',
  ];
  return html`<p>Go online as a user of the demo organization: get a token and listen.</p>
${examples(codeBlock("One terminal", listen.join("\n")))}
<p>Send a message to a conversation of that user. It appears in the first terminal.</p>
${examples(codeBlock("Another terminal, with the same two exports", curl(send)))}
<p>Then read how a client <a href="/docs/realtime">connects and recovers</a>, and how to handle each <a href="/docs/errors">error</a>. For machines, there are <a href="/openapi.json">openapi.json</a> and <a href="/asyncapi.json">asyncapi.json</a>.</p>`;
}

function describe(operation: Operation, schemas: SchemaCollector): Html {
  const { operationId, method, path, summary, description, body, isBodyOptional } = operation;
  const table = (title: string, fields: Html | undefined) =>
    fields === undefined ? undefined : html`<h4>${title}</h4>${fields}`;
  const fieldsOf = (place: string, schema: Operation["params"]) =>
    fieldsTable(`${place} of ${operationId}`, schemas.add(schema, "input"), schemas.schemas);
  return html`<section class="operation" id="${operationId}">
<h3><a href="#${operationId}">${summary}</a></h3>
<p class="address"><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></p>
${description === undefined ? undefined : html`<p>${prose(description)}</p>`}
${neededKey(operation.scope)}
${table("Path", fieldsOf("Path", operation.params))}
${table("Query", fieldsOf("Query", operation.query))}
${operation.requestHeaders === undefined ? undefined : table("Headers", fieldsOf("Headers", operation.requestHeaders))}
${body === undefined ? undefined : table(isBodyOptional ? "Body (optional)" : "Body", fieldsOf("Body", body))}
<h4>Responses</h4>
${answerList(operation, schemas)}
${examples(codeBlock("Request", curl(operation)), ...answerExamples(operation))}
<h4>Errors</h4>
<ul class="codes">${errorCodesOf(operation).map(
    (code) =>
      html`<li><span class="status">${errorCatalogue[code].status}</span><a href="/docs/errors#${code}">${code}</a></li>`,
  )}</ul>
</section>`;
}

function answerList({ answers }: Operation, schemas: SchemaCollector): Html {
  const items = Object.entries(answers).map(([status, { description, schema, headers = {} }]) => {
    const ref = schema === undefined ? undefined : schemas.add(schema, "output").$ref;
    const notes = Object.entries(headers).map(([name, note]) => html` Header <code>${name}</code>: ${prose(note)}.`);
    return html`<li><span class="status">${status}</span> ${prose(description)}${
      ref === undefined ? undefined : html` ${objectLink(refName(ref))}.`
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
  const links = [scope].flat().map((one) => html`<a href="#scopes"><code>${one}</code></a>`);
  return html`<p>Requires a key with the scope ${joined(links)}.</p>`;
}

/** The example of a response, as JSON unless it is text. */
function exampleOf(answer: OperationAnswer | undefined): Html | string {
  return typeof answer?.example === "string" ? answer.example : json(answer?.example);
}
