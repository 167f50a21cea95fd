import type { z } from "zod";
import { isObject } from "../../lib/json/json-values.ts";
import { createSchemaCollector, type JsonSchema, refName } from "../documents/json-schema.ts";
import { mayCall, type Reach } from "../keys/reach.ts";
import type { PayloadLimits } from "../limits.ts";
import { createOperations } from "../operations/all.ts";
import type { Operation, OperationAnswer } from "../operations/operation.ts";
import { type Hints, hintsOf } from "./hints.ts";

/** The schema of an object, as MCP requires of what a tool takes and returns. */
export type ObjectSchema = { type: "object"; [member: string]: unknown };

/** A tool as clients see it: its name is the `operationId`. */
export type Tool = {
  name: string;
  title: string;
  description: string;
  inputSchema: ObjectSchema;
  outputSchema?: ObjectSchema;
  annotations: Hints & { title: string };
};

/** A tool, and the operation that it calls. */
export type OperationTool = { tool: Tool; operation: Operation };

/** Creates the tools: one for each operation that takes a key and whose body and answer are JSON. */
export function createTools(limits: PayloadLimits): OperationTool[] {
  return Object.values<Operation>(createOperations(limits))
    .filter(isForTools)
    .map((operation) => ({ tool: toolOf(operation), operation }));
}

/** Of the tools, those that a key may call. */
export function toolsFor(tools: readonly OperationTool[], reach: Reach): Tool[] {
  return tools.filter(({ operation }) => mayCall(operation, reach)).map(({ tool }) => tool);
}

/** Streams, lines and bytes are no tools: a model gets an answer whole, as text. */
function isForTools({ scope, body, lines, takesBytes, answers }: Operation): boolean {
  const done = Object.entries(answers).filter(([status]) => status.startsWith("2"));
  const isJson = ([status, { schema, contentType }]: [string, OperationAnswer]) =>
    schema === undefined ? status === "204" : contentType === undefined;
  const takesValue = body !== undefined || lines === undefined;
  return scope !== undefined && takesValue && takesBytes !== true && done.every(isJson);
}

function toolOf(operation: Operation): Tool {
  const { operationId, method, path, summary, description } = operation;
  const outputSchema = outputOf(operation);
  return {
    name: operationId,
    title: summary,
    description: [`${summary}.`, description, `Calls ${method.toUpperCase()} ${path}.`]
      .filter((part) => part !== undefined)
      .join(" "),
    inputSchema: inputOf(operation),
    ...(outputSchema !== undefined && { outputSchema }),
    annotations: { title: summary, ...hintsOf(operation) },
  };
}

/** The parameters of the path and the query, and the members of the body, as members of one object. */
function inputOf({ operationId, params, query, body }: Operation): ObjectSchema {
  const parts = [params, query, ...(body === undefined ? [] : [body])].map((part) => inlined(part, "input"));
  const names = parts.flatMap(({ properties = {} }) => Object.keys(properties));
  if (new Set(names).size < names.length || parts.some(({ type }) => type !== "object"))
    throw new Error(`${operationId} cannot be a tool: its parameters and its body are not one object`);
  return {
    type: "object",
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
    additionalProperties: false,
  };
}

/** The schema of the answers, if there is a body. */
function outputOf({ answers }: Operation): ObjectSchema | undefined {
  const schemas = Object.entries(answers).flatMap(([status, { schema }]) =>
    status.startsWith("2") && schema !== undefined ? [schema] : [],
  );
  const shapes = [...new Set(schemas)].map((schema) => inlined(schema, "output"));
  if (shapes.length === 0) return undefined;
  return { ...(shapes.length === 1 ? shapes[0] : { anyOf: shapes }), type: "object" };
}

/**
 * The JSON Schema of a schema, without references, as many clients do not follow them, and without patterns, which the server checks:
 * they are a third of all text, and some models' interfaces refuse those that they do not know.
 */
function inlined(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const { add, schemas } = createSchemaCollector();
  const inline = (value: unknown, within: readonly string[] = []): unknown => {
    if (Array.isArray(value)) return value.map((one) => inline(one, within));
    if (!isObject(value)) return value;
    const { $ref, pattern, ...others } = value;
    const members = pattern === undefined || typeof pattern === "string" ? others : { ...others, pattern }; // a member so named
    const own = Object.fromEntries(Object.entries(members).map(([name, member]) => [name, inline(member, within)]));
    if (typeof $ref !== "string") return own;
    const id = refName($ref);
    if (within.includes(id)) throw new Error(`the schema ${id} contains itself`);
    const referred = inline(schemas[id], [...within, id]);
    return isObject(referred) ? { ...referred, ...own } : own;
  };
  const json = inline(add(schema, io));
  return isObject(json) ? json : {};
}
