// Makes of the OpenAPI document one that a generator of models turns into types which read well: every object and every
// enumeration has a name, a union of lines is one object whose members are optional, and what only restricts values is gone.

/** The part of JSON Schema that our documents use. */
export type Schema = {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: { enum?: unknown[] };
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  $ref?: string;
  nullable?: boolean;
  format?: string;
  description?: string;
  additionalProperties?: boolean | Schema;
  [extension: `x-${string}`]: unknown;
};

/** The models of a document, by name. */
export type Models = Record<string, Schema>;

/** The names of schemas. Others are called as in the document or, if nested, like their parent and their member; `null` has no model. */
export type Names = Readonly<Record<string, string | null>>;

const prefix = "#/components/schemas/";
const isNull = (schema: Schema) => schema.type === "null";

/** `send_at` becomes `SendAt`. */
export const pascal = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

/**
 * Names every object and enumeration of the schemas. A boolean that is `true` or absent is marked `x-only-true`. Throws if two
 * schemas that differ get the same name.
 */
export function toModels(schemas: Models, names: Names): Models {
  const models: Models = {};
  const refer = (name: string): Schema => ({ $ref: prefix + name });
  const nameOf = (path: string) => names[path] ?? path.split(".").map(pascal).join("");

  function add(name: string, model: Schema): Schema {
    const { description: _, ...shape } = model;
    const { description: __, ...known } = models[name] ?? model;
    if (!Bun.deepEquals(shape, known)) throw new Error(`two schemas that differ are called ${name}`);
    models[name] ??= model;
    return refer(name);
  }

  function resolve(schema: Schema): Schema {
    const name = schema.$ref?.slice(prefix.length);
    if (name === undefined) return schema;
    const found = schemas[name];
    if (found === undefined) throw new Error(`there is no schema ${name}`);
    return found;
  }

  function nullable(schema: Schema): Schema {
    return schema.$ref === undefined ? { ...schema, nullable: true } : { allOf: [schema], nullable: true };
  }

  /** One object with the members of all. What not all of them require is optional. */
  function merge(variants: Schema[]): Schema {
    const objects = variants.map(resolve);
    const properties: Record<string, Schema> = {};
    for (const object of objects)
      for (const [key, value] of Object.entries(object.properties ?? {})) properties[key] ??= value;
    const required = Object.keys(properties).filter((key) => objects.every((object) => object.required?.includes(key)));
    return { type: "object", properties, required };
  }

  /** The schema of a member, whose objects and enumerations are models by now. */
  function visit(schema: Schema, path: string): Schema {
    const { description } = schema;
    const said = description === undefined ? {} : { description };
    if (resolve(schema).oneOf !== undefined) return { type: "object", additionalProperties: true, ...said };
    if (schema.$ref !== undefined) return refer(nameOf(schema.$ref.slice(prefix.length)));
    const variants = schema.properties === undefined ? schema.anyOf : undefined;
    const others = variants?.filter((variant) => !isNull(variant)) ?? [];
    if (variants !== undefined && others.length < variants.length) {
      const inner = others.length === 1 ? (others[0] ?? {}) : { anyOf: others };
      return { ...nullable(visit({ ...inner, ...said }, path)), ...said };
    }
    if (variants !== undefined) return object({ ...merge(variants), ...said }, path);
    if (schema.properties !== undefined) return object(schema, path);
    if (Array.isArray(schema.type)) {
      const [type = "string"] = schema.type.filter((name) => name !== "null");
      return { ...nullable(visit({ ...schema, type }, path)), ...said };
    }
    if (schema.items !== undefined) return { type: "array", items: visit(schema.items, path), ...said };
    if (schema.enum !== undefined || typeof schema.const === "string") return add(nameOf(path), enumeration(schema));
    const { additionalProperties, format } = schema;
    return {
      type: schema.type ?? "object",
      ...(format !== undefined && { format }),
      ...((schema.const === true || schema.not?.enum?.[0] === false) && { "x-only-true": true }),
      ...(additionalProperties === true && { additionalProperties }),
      ...(typeof additionalProperties === "object" && { additionalProperties: visit(additionalProperties, path) }),
      ...said,
    };
  }

  function enumeration({ enum: values, const: value, description }: Schema): Schema {
    return { type: "string", enum: values ?? [value], ...(description !== undefined && { description }) };
  }

  function object({ properties = {}, required = [], description }: Schema, path: string): Schema {
    const name = nameOf(path);
    const members = Object.entries(properties).map(([key, value]) => [key, visit(value, `${name}.${key}`)] as const);
    const text = description === undefined ? {} : { description };
    return add(name, { type: "object", properties: Object.fromEntries(members), required, ...text });
  }

  for (const [name, schema] of Object.entries(schemas)) if (names[name] !== null) visit(schema, name);
  return models;
}
