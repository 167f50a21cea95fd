import { isObject } from "../../lib/json/json-values.ts";
import type { JsonSchema, Keep } from "./json-schema.ts";

/**
 * The same schema in words that generators of clients know. Of a number or boolean with `const`, openapi-generator 7 makes Java
 * that does not compile; a text with `const`, several generators take for any text. A nested object with a `title` goes to
 * `keep`, because generators call it after all that it is nested in, or do not name it at all.
 */
export function forGenerators(schema: JsonSchema, keep: Keep): JsonSchema {
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
