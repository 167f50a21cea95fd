import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { errorCodesOf } from "../errors/operation-errors.ts";
import { problemSchema } from "../errors/problem.ts";
import { defaultPayloadLimits, type PayloadLimits } from "../limits.ts";
import { createOperations } from "../operations/all.ts";
import type { Operation } from "../operations/operation.ts";
import { openApiDocument } from "./openapi.ts";

const operations = Object.values<Operation>(createOperations(defaultPayloadLimits));
const document = openApiDocument();

const media = z.looseObject({
  schema: z.looseObject({}),
  example: z.unknown().optional(),
  examples: z.record(z.string(), z.unknown()).optional(),
});
const response = z.looseObject({
  headers: z.record(z.string(), z.unknown()),
  content: z.record(z.string(), media).optional(),
});
const described = z.looseObject({
  operationId: z.string(),
  parameters: z.array(z.looseObject({ name: z.string(), in: z.string() })).default([]),
  requestBody: z.looseObject({ content: z.record(z.string(), media) }).optional(),
  responses: z.record(z.string(), response),
});

const tagged = z.array(z.looseObject({ operationId: z.string(), tags: z.array(z.string()) }));

/** Every object in a value, at any depth, except in examples. */
function objectsIn(value: unknown): object[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.entries(value).filter(([key]) => key !== "example" && key !== "examples");
  return [value, ...inner.flatMap(([, member]) => objectsIn(member))];
}

function describedOperation({ path, method }: Operation) {
  return described.parse(document.paths[path]?.[method]);
}

/** The value of an example, or of the shared one that it refers to. */
function exampleValue(example: unknown): unknown {
  const { $ref, value } = z.looseObject({ $ref: z.string().optional(), value: z.unknown().optional() }).parse(example);
  const name = $ref?.replace("#/components/examples/", "");
  return name === undefined ? value : document.components.examples[name]?.value;
}

describe("the OpenAPI document", () => {
  test.each(operations.map((operation) => [operation.operationId, operation] as const))(
    "%s has examples that fit the schemas of the router",
    (_, operation) => {
      const { requestBody, responses } = describedOperation(operation);
      const example = requestBody?.content["application/json"]?.example;
      expect(example === undefined).toBe(operation.body === undefined);
      expect(() => operation.body?.parse(example)).not.toThrow();
      for (const [status, answer] of Object.entries(operation.answers)) {
        const content = Object.values(responses[status]?.content ?? {})[0];
        expect(content === undefined).toBe(answer.schema === undefined);
        expect(answer.schema?.parse(content?.example)).toEqual(answer.example);
      }
    },
  );

  test.each(operations.map((operation) => [operation.operationId, operation] as const))(
    "%s shows each of its errors, under its status, as a problem",
    (_, operation) => {
      const { responses } = describedOperation(operation);
      const shown = Object.values(responses).flatMap(({ content }) =>
        Object.entries(content?.["application/problem+json"]?.examples ?? {}),
      );
      expect(shown.map(([code]) => code)).toEqual(errorCodesOf(operation));
      for (const [code, example] of shown) {
        const problem = problemSchema.parse(exampleValue(example));
        expect(problem.code).toBe(problemSchema.shape.code.parse(code));
        expect(Object.keys(responses)).toContain(String(problem.status));
        expect(problem.errors?.length).toBe(code === "invalid_request" ? 1 : undefined);
      }
    },
  );

  test.each(operations.map((operation) => [operation.operationId, operation] as const))(
    "%s names each parameter of its path, and X-Request-Id on each answer",
    (_, operation) => {
      const { parameters, responses } = describedOperation(operation);
      const inPath = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => `{${name}}`);
      expect(inPath).toEqual(operation.path.match(/\{\w+\}/g) ?? []);
      for (const { headers } of Object.values(responses)) expect(headers).toHaveProperty("X-Request-Id");
    },
  );

  test("refuses unknown members and counts text as the server does", () => {
    const { SendMessageRequest: request, NewMessage: message } = document.components.schemas;
    expect(request).toHaveProperty("additionalProperties", false);
    expect(message).toHaveProperty("additionalProperties", false);
    expect(message).toHaveProperty("properties.body.maxLength", defaultPayloadLimits.bodyCharacters);
    expect(message).toHaveProperty("properties.cid.maxLength", 128);
  });

  test("shows the limits of the server that serves it, and none that is lifted", () => {
    const schemaWith = (limits: Partial<PayloadLimits>) =>
      openApiDocument({ ...defaultPayloadLimits, ...limits }).components.schemas.NewMessage;
    const path = "properties.attachments.maxItems";
    expect(schemaWith({ attachments: 3 })).toHaveProperty(path, 3);
    expect(JSON.stringify(schemaWith({ attachments: Number.POSITIVE_INFINITY }))).not.toContain("maxItems");
  });

  test.each(operations.map((operation) => [operation.operationId, operation] as const))(
    "%s has a schema for its first status that every answer fits, as generators assume",
    (_, operation) => {
      const [first] = Object.values(operation.answers).filter(({ schema }) => schema !== undefined);
      const common = first?.commonSchema ?? first?.schema;
      for (const { schema, example } of Object.values(operation.answers))
        if (schema !== undefined) expect(() => common?.parse(example)).not.toThrow();
    },
  );

  test("names what generators make files and types of, each once, and as no type that they make themselves", () => {
    const tags = (described: object) => tagged.parse(described).flatMap((operation) => operation.tags);
    const inPaths = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const inWebhooks = Object.values(document.webhooks).flatMap((methods) => Object.values(methods));
    expect(tags(inPaths).filter((tag) => tags(inWebhooks).includes(tag))).toEqual([]);
    const ids = tagged.parse([...inPaths, ...inWebhooks]).map(({ operationId }) => operationId);
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
    expect(new Set(ids.map((id) => id.toLowerCase())).size).toBe(ids.length);
    // Of an operation, oapi-codegen makes `SendMessageResponse` and `SendMessageParams`.
    const taken = /^File$|(Response|Params)$/;
    expect(Object.keys(document.components.schemas).filter((name) => taken.test(name))).toEqual([]);
  });

  test("restricts values only in words that generators understand, or ignore", () => {
    const found = objectsIn(document.components.schemas).filter(
      (schema) =>
        ("const" in schema && typeof schema.const !== "object") ||
        ("properties" in schema && ("anyOf" in schema || "oneOf" in schema)),
    );
    expect(found).toEqual([]);
  });

  test("refers to each schema from an operation, because oapi-codegen leaves out what only webhooks use", () => {
    const used = new Set<string>();
    const visit = (value: unknown): void => {
      for (const [, name = ""] of JSON.stringify(value).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) {
        if (used.has(name)) continue;
        used.add(name);
        visit(document.components.schemas[name]);
      }
    };
    visit(document.paths);
    expect([...used].sort()).toEqual(Object.keys(document.components.schemas).sort());
  });

  test("is JSON: nothing in it is lost when it is written", () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });
});
