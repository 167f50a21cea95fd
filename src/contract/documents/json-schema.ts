import { z } from "zod";

/** A JSON Schema (draft 2020-12) as it appears in a document. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Converts Zod schemas to JSON Schema. Schemas with an `id` go into `schemas`, once, and are referenced from there. */
export type SchemaCollector = {
  /** Converts a schema of what a caller sends (`input`) or receives (`output`). */
  add(schema: z.ZodType, io: "input" | "output"): JsonSchema;
  /** The schemas with an id, by id. */
  schemas: Record<string, JsonSchema>;
};

const zodPrefix = "#/$defs/";
const documentPrefix = "#/components/schemas/";
const isoWithMilliseconds = "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$";

/** Puts a schema into a document under a name. Returns a reference to it. */
export type Keep = (id: string, schema: JsonSchema) => JsonSchema;
/** Changes a schema for a document, and may keep parts of it under names of their own. */
type Adapt = (schema: JsonSchema, keep: Keep) => JsonSchema;

/**
 * Creates a collector for one document, which may adapt each schema. Throws if two different schemas have the same id.
 */
export function createSchemaCollector(adapt: Adapt = (schema) => schema): SchemaCollector {
  const schemas: Record<string, JsonSchema> = {};

  function keep(id: string, schema: JsonSchema): JsonSchema {
    const kept = schemas[id];
    if (kept !== undefined && kept !== schema && JSON.stringify(kept) !== JSON.stringify(schema)) {
      throw new Error(`the schema id ${id} stands for two different schemas`);
    }
    schemas[id] = schema;
    return { $ref: documentPrefix + id };
  }

  return {
    schemas,
    add(schema, io) {
      const { json, definitions } = convert(schema, io);
      for (const [id, definition] of definitions) keep(id, adapt(definition, keep));
      return adapt(json, keep);
    },
  };
}

/** A schema as it appears in a document, and the definitions that it refers to, by id. */
type Converted = { json: JsonSchema; definitions: [id: string, JsonSchema][] };

// Documents and their operations share schemas, that of errors above all, and a node converts them while it starts.
const converted = { input: new WeakMap<z.ZodType, Converted>(), output: new WeakMap<z.ZodType, Converted>() };

function convert(schema: z.ZodType, io: "input" | "output"): Converted {
  const known = converted[io].get(schema);
  if (known !== undefined) return known;
  const {
    $schema,
    $defs = {},
    ...json
  } = z.toJSONSchema(schema, { io, unrepresentable: "any", override: ({ jsonSchema }) => tidy(jsonSchema, io) });
  const definitions = Object.entries($defs).map(([id, definition]): [string, JsonSchema] => [
    id,
    withDocumentRefs(definition),
  ]);
  const made = { json: withDocumentRefs(json), definitions };
  converted[io].set(schema, made);
  return made;
}

/** Removes what Zod adds needlessly, and corrects what it expresses differently from this contract. */
function tidy(schema: JsonSchema, io: "input" | "output"): void {
  if (io === "output" && schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (io === "output" && schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maxItems === Number.POSITIVE_INFINITY) delete schema.maxItems;
  if (io === "output" && schema.format === "date-time") schema.pattern = isoWithMilliseconds;
  if (schema.additionalProperties !== undefined && isEmpty(schema.additionalProperties))
    schema.additionalProperties = true;
  if (JSON.stringify(schema.propertyNames) === '{"type":"string"}') delete schema.propertyNames;
  // Query parameters arrive as text, and so do their defaults.
  if (schema.type === "integer" && typeof schema.default === "string") schema.default = Number(schema.default);
  if (schema.type === "boolean" && typeof schema.default === "string") schema.default = schema.default === "true";
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** The same schema with references that point into the document. */
function withDocumentRefs<Value>(value: Value): Value {
  const toDocument = (key: string, member: unknown) =>
    key === "$ref" && typeof member === "string" ? member.replace(zodPrefix, documentPrefix) : member;
  return JSON.parse(JSON.stringify(value, toDocument));
}

/** The name that a `$ref` of a document ends with. */
export function refName(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}
