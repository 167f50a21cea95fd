import { z } from "zod";
import type { Operation } from "../../operations/operation.ts";
import { linesType } from "../../transfer/lines.ts";
import type { JsonSchema } from "../json-schema.ts";

/** A `curl` call of an operation with its example, for a shell with `HERALD` and `HERALD_ADMIN_API_KEY` set. */
export function curl({ method, path, params, scope, lines, takesBytes, bodyExample, answers }: Operation): string {
  const isStream = Object.values(answers).some(({ contentType }) => contentType === "text/event-stream");
  const verb = isStream ? "-N " : method === "get" ? "" : `-X ${method.toUpperCase()} `;
  return [
    `curl ${verb}"$HERALD${withExamples(path, params)}"`,
    ...(scope === undefined ? [] : [`-H "Admin-Api-Key: $HERALD_ADMIN_API_KEY"`]),
    ...(takesBytes === true ? [`-H "Content-Type: application/pdf"`, "--data-binary @invoice.pdf"] : []),
    ...(bodyExample === undefined
      ? []
      : lines === undefined
        ? [`-H "Content-Type: application/json"`, `-d ${quoted(JSON.stringify(bodyExample, undefined, 2))}`]
        : [`-H "Content-Type: ${linesType}"`, `--data-binary ${quoted(JSON.stringify(bodyExample))}`]),
  ].join(" \\\n  ");
}

function withExamples(path: string, params: z.ZodType): string {
  const { properties = {} }: JsonSchema = z.toJSONSchema(params, { io: "input", unrepresentable: "any" });
  return path.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const property = properties[name];
    const example = typeof property === "object" ? property.examples?.[0] : undefined;
    return example === undefined ? placeholder : encodeURIComponent(String(example));
  });
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''").replaceAll("\n", "\n  ")}'`;
}
