import { isObject } from "../../lib/json/json-values.ts";
import { type ErrorCode, errorCatalogue } from "../errors/errors.ts";
import { errorCodesOf, errorHeaders, problemExample } from "../errors/operation-errors.ts";
import { type Problem, problemSchema } from "../errors/problem.ts";
import { anyBytes } from "../files.ts";
import { scopes } from "../keys/scopes.ts";
import { defaultPayloadLimits, type PayloadLimits } from "../limits.ts";
import { createOperations } from "../operations/all.ts";
import { noQuery, type Operation, type OperationAnswer, operationTags } from "../operations/operation.ts";
import { linesType } from "../transfer/lines.ts";
import { about, conventions, nestingRule } from "./about.ts";
import { createSchemaCollector, type JsonSchema, type Keep, type SchemaCollector } from "./json-schema.ts";
import { describeWebhooks, webhookTag } from "./openapi-webhooks.ts";

/** The components that operations share, collected while describing them. */
type Components = { schemas: SchemaCollector; examples: Record<string, { summary: string; value: Problem }> };

const requestIdHeader = "X-Request-Id";
const keyExpiresHeader = "Herald-Key-Expires";

const headers: Record<string, { description: string; schema: JsonSchema }> = {
  [requestIdHeader]: {
    description: "The id of this request in the server's log. Quote it when you report a problem.",
    schema: { type: "string" },
  },
  "Accept-Encoding": {
    description: "The content codings that a body may have: `identity`. Present if its `Content-Encoding` was refused.",
    schema: { type: "string" },
  },
  "Retry-After": { description: "Seconds to wait before trying again.", schema: { type: "integer", minimum: 0 } },
  [keyExpiresHeader]: {
    description:
      "When the old secret of a rotated key expires (ISO 8601 UTC). Present, also on errors, only if the call used such a secret.",
    schema: { type: "string", format: "date-time" },
  },
  RateLimit: { description: "What remains of the exceeded limit.", schema: { type: "string" } },
  "RateLimit-Policy": { description: "The exceeded limit.", schema: { type: "string" } },
};

/**
 * The OpenAPI 3.1 document of the HTTP operations, with the limits that the server checks. `basePath` is the path below which the
 * server is reached.
 */
export function openApiDocument(limits: PayloadLimits = defaultPayloadLimits, basePath = "") {
  const components: Components = { schemas: createSchemaCollector(forGenerators), examples: {} };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of Object.values<Operation>(createOperations(limits))) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation, components) };
  }
  return {
    openapi: "3.1.1",
    info: {
      title: about.title,
      version: about.version,
      summary: about.tagline,
      description: [
        about.introduction,
        `${about.authentication} ${about.retries}`,
        [...conventions, ...nestingRule(limits), about.strictness].map((rule) => `- ${rule}`).join("\n"),
      ].join("\n\n"),
      license: { name: about.license, identifier: about.license },
    },
    servers: [{ url: basePath === "" ? "/" : basePath, description: "This server." }],
    tags: [...Object.entries(operationTags).map(([name, description]) => ({ name, description })), webhookTag],
    externalDocs: { url: "/docs", description: "The human-readable reference." },
    paths,
    webhooks: describeWebhooks(components.schemas),
    components: {
      securitySchemes: {
        adminApiKey: { type: "apiKey", in: "header", name: "Admin-Api-Key", description: describeScopes() },
      },
      headers,
      examples: components.examples,
      schemas: components.schemas.schemas,
    },
  };
}

function describeScopes(): string {
  const list = Object.entries(scopes).map(([scope, allows]) => `- \`${scope}\`: ${allows}`);
  return ["An API key. Each operation names the scope that the key needs:", ...list].join("\n");
}

function describe(operation: Operation, components: Components): Record<string, unknown> {
  const { operationId, tag, summary, description, scope } = operation;
  const { schemas } = components;
  const content = describeBody(operation, schemas);
  const parameters = [
    ...describeParameters("path", schemas.add(operation.params, "input")),
    ...describeParameters("query", schemas.add(operation.query, "input")),
    ...describeParameters("header", schemas.add(operation.requestHeaders ?? noQuery, "input")),
  ];
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: describeKeys(scope),
    ...(parameters.length > 0 && { parameters }),
    ...(content !== undefined && { requestBody: { required: operation.isBodyOptional !== true, content } }),
    responses: { ...describeAnswers(operation, schemas), ...describeErrors(operation, components) },
  };
}

/** The body of a request by its media type, if the operation takes one. */
function describeBody({ body, lines, takesBytes, bodyExample: example }: Operation, schemas: SchemaCollector) {
  const ofLines = lines && {
    [linesType]: { schema: schemas.add(lines, "input"), ...(body === undefined && { example }) },
  };
  if (body !== undefined) return { "application/json": { schema: schemas.add(body, "input"), example }, ...ofLines };
  if (ofLines !== undefined) return ofLines;
  return takesBytes === true ? { [anyBytes]: { schema: { type: "string", format: "binary" } } } : undefined;
}

function describeParameters(place: "path" | "query" | "header", { properties = {}, required = [] }: JsonSchema) {
  return Object.entries(properties).map(([name, property]) => {
    const { description, examples, ...schema } = typeof property === "object" ? property : {};
    return {
      name,
      in: place,
      required: required.includes(name),
      // A list is one parameter: percent-encoded items, separated by commas (RFC 6570, section 3.2.8).
      ...(schema.type === "array" && { style: "form", explode: false }),
      ...(description !== undefined && { description }),
      schema,
      ...(examples?.[0] !== undefined && { example: examples[0] }),
    };
  });
}

/** The keys of which one is needed. */
function describeKeys(scope: Operation["scope"]): { adminApiKey: string[] }[] {
  if (scope === undefined) return [];
  return scope === "any" ? [{ adminApiKey: [] }] : [scope].flat().map((one) => ({ adminApiKey: [one] }));
}

function describeAnswers({ answers, scope }: Operation, schemas: SchemaCollector) {
  const common = scope === undefined ? [requestIdHeader] : [requestIdHeader, keyExpiresHeader];
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [
      status,
      {
        description: answer.description,
        headers: { ...headerRefs(common), ...ownHeaders(answer) },
        ...(answer.schema !== undefined && {
          content: {
            [answer.contentType ?? "application/json"]: {
              schema: schemas.add(answer.commonSchema ?? answer.schema, "output"),
              example: answer.example,
            },
            ...describeOthers(answer, schemas),
          },
        }),
      },
    ]),
  );
}

function describeOthers({ others = {} }: OperationAnswer, schemas: SchemaCollector) {
  return Object.fromEntries(
    Object.entries(others).map(([type, { schema, example }]) => [
      type,
      { schema: schemas.add(schema, "output"), example },
    ]),
  );
}

function ownHeaders(answer: OperationAnswer) {
  return Object.fromEntries(
    Object.entries(answer.headers ?? {}).map(([name, description]) => [
      name,
      { description, schema: { type: "string" } },
    ]),
  );
}

function headerRefs(names: string[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** One response for each error status, except those that the operation itself describes, such as 503 of `/readyz`. */
function describeErrors(operation: Operation, components: Components) {
  const byStatus = Map.groupBy(errorCodesOf(operation), (code) => errorCatalogue[code].status);
  const errors = [...byStatus].filter(([status]) => operation.answers[status] === undefined);
  return Object.fromEntries(
    errors.map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code].title}.`).join("\n\n"),
        headers: headerRefs([requestIdHeader, ...(errorHeaders[status] ?? [])]),
        content: {
          "application/problem+json": {
            schema: components.schemas.add(problemSchema, "output"),
            examples: Object.fromEntries(codes.map((code) => [code, describeExample(code, operation, components)])),
          },
        },
      },
    ]),
  );
}

/** The example of an error. Operations share it unless it is specific to one. */
function describeExample(code: ErrorCode, operation: Operation, { examples }: Components) {
  const example = { summary: errorCatalogue[code].title, value: problemExample(code, operation) };
  if (example.value.errors !== undefined) return example;
  examples[code] ??= example;
  return { $ref: `#/components/examples/${code}` };
}

/**
 * The same schema in words that generators of clients know. Of a number or boolean with `const`, openapi-generator 7 makes Java
 * that does not compile; a text with `const`, several generators take for any text. A nested object with a `title` goes to
 * `keep`, because generators call it after all that it is nested in, or do not name it at all.
 */
function forGenerators(schema: JsonSchema, keep: Keep): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (_, value: unknown) => {
    if (!isObject(value)) return value;
    const { title, ...rest } = withoutConst(value);
    if (typeof title !== "string" || rest.type !== "object") return withoutConst(value);
    return keep(title, JSON.parse(JSON.stringify(rest)));
  });
}

function withoutConst({ const: only, ...rest }: Record<string, unknown>): Record<string, unknown> {
  if (typeof only === "string") return { ...rest, enum: [only] };
  if (typeof only === "boolean") return { ...rest, not: { enum: [!only] } };
  if (typeof only === "number") return { ...rest, type: "integer", minimum: only, maximum: only };
  return only === undefined ? rest : { ...rest, const: only };
}
