import { type JsonSchema, refName } from "../json-schema.ts";
import { type Html, html, prose } from "./html.ts";
import { folded, scrollingTable } from "./layout.ts";

/** The schemas that a `$ref` may point to, by id. */
export type Schemas = Record<string, JsonSchema>;

const maxValuesShown = 4;

type Field = { within: string; name: string; schema: JsonSchema; isRequired: boolean };

/** The page that describes the objects; empty if it is the same page. */
type ObjectsAt = string;

/** A column of a table of fields. Empty columns are omitted. */
type Column = { title: string; className: string; cell(field: Field, objectsAt: ObjectsAt): Html | undefined };

const columns: Column[] = [
  {
    title: "Name",
    className: "name",
    cell: ({ within, name }) =>
      html`${within === "" ? undefined : html`<code class="within">${within}</code>`}<code>${name}</code>`,
  },
  { title: "Type", className: "type", cell: ({ schema }, objectsAt) => typeOf(schema, objectsAt) },
  { title: "Required", className: "required", cell: ({ isRequired }) => html`${isRequired ? "required" : "optional"}` },
  { title: "Limits", className: "limits", cell: ({ schema }) => proseOrNothing(limitsOf(schema)) },
  { title: "Description", className: "description", cell: ({ schema }) => proseOrNothing(schema.description ?? "") },
];

/**
 * A table of the members of an object and of its nested objects. A member with a named schema links to it, on the page
 * `objectsAt` unless it is the same.
 */
export function fieldsTable(
  label: string,
  schema: JsonSchema,
  schemas: Schemas,
  objectsAt: ObjectsAt = "",
): Html | undefined {
  const fields = fieldsOf(resolve(schema, schemas)).filter((field) => !isMereWrapper(field));
  if (fields.length === 0) return undefined;
  const shown = columns.filter(({ cell }) => fields.some((field) => cell(field, objectsAt) !== undefined));
  const head = shown.map(({ title }) => html`<th scope="col">${title}</th>`);
  const rows = fields.map(
    (field) =>
      html`<tr>${shown.map(({ className, cell }) => html`<td class="${className}">${cell(field, objectsAt)}</td>`)}</tr>
`,
  );
  return scrollingTable(
    label,
    html`<table class="fields"><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table>`,
  );
}

function proseOrNothing(text: string): Html | undefined {
  return text === "" ? undefined : prose(text);
}

/** Whether an object needs no row of its own, because its members' names say everything about it. */
function isMereWrapper({ schema, isRequired }: Field): boolean {
  return isRequired && schema.description === undefined && Object.keys(schema.properties ?? {}).length > 0;
}

/** The objects that `schema` refers to, directly or indirectly, each once. */
export function referredIds(schema: JsonSchema, schemas: Schemas, found: Set<string> = new Set()): Set<string> {
  for (const [, ref] of JSON.stringify(schema).matchAll(/"\$ref":"([^"]+)"/g)) {
    const id = refName(ref ?? "");
    const referred = schemas[id];
    if (referred === undefined || found.has(id)) continue;
    found.add(id);
    referredIds(referred, schemas, found);
  }
  return found;
}

/** A link to the description of an object. */
export function objectLink(id: string, objectsAt: ObjectsAt): Html {
  return html`<a href="${objectsAt}#${id}">${id}</a>`;
}

/** A section for each object of `ids`, of which readers see the name until they open it. */
export function objectSections(ids: Iterable<string>, schemas: Schemas): Html[] {
  return [...ids].sort().map((id) => {
    const schema = schemas[id] ?? {};
    const members = fieldsTable(`Members of ${id}`, schema, schemas);
    const description = schema.description === undefined ? undefined : html`<p>${prose(schema.description)}</p>`;
    return html`<section class="operation object" id="${id}"><h3><a href="#${id}">${id}</a></h3>
${members === undefined ? description : folded("Members", html`${description}${members}`)}</section>`;
  });
}

function resolve(schema: JsonSchema, schemas: Schemas): JsonSchema {
  return schema.$ref === undefined ? schema : (schemas[refName(schema.$ref)] ?? schema);
}

function fieldsOf(schema: JsonSchema, within = ""): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    if (typeof property === "boolean") return [];
    const isRequired = schema.required?.includes(name) === true;
    const item = itemOf(property);
    return [
      { within, name, schema: property, isRequired },
      ...fieldsOf(property, `${within}${name}.`),
      ...(item === undefined ? [] : fieldsOf(item, `${within}${name}[].`)),
    ];
  });
}

function itemOf({ items }: JsonSchema): JsonSchema | undefined {
  return typeof items === "object" && !Array.isArray(items) ? items : undefined;
}

function typeOf(schema: JsonSchema, objectsAt: ObjectsAt): Html {
  if (schema.$ref !== undefined) return objectLink(refName(schema.$ref), objectsAt);
  const item = itemOf(schema);
  if (item !== undefined) return html`array of ${typeOf(item, objectsAt)}`;
  if (schema.anyOf !== undefined && schema.type === undefined)
    return joined(schema.anyOf.map((one) => typeOf(asSchema(one), objectsAt)));
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.format === "date-time") return html`date-time`;
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? "any"];
  return joined(types.map((type) => html`${type}`));
}

/** Parts of which one applies. */
export function joined(parts: Html[]): Html {
  return html`${parts.map((part, index) => (index === 0 ? part : html` or ${part}`))}`;
}

function asSchema(schema: JsonSchema | boolean): JsonSchema {
  return typeof schema === "boolean" ? {} : schema;
}

function limitsOf(schema: JsonSchema): string {
  const { minLength, maxLength, minItems, maxItems, minimum, maximum } = schema;
  const bound = schema.anyOf?.map(asSchema).find((part) => part.maxLength !== undefined);
  return [
    range(minLength ?? bound?.minLength, maxLength ?? bound?.maxLength, "characters"),
    range(minItems, maxItems, "items"),
    range(minimum, maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum),
    schema.enum === undefined || schema.enum.length > maxValuesShown
      ? ""
      : schema.enum.map((value) => `\`${value}\``).join(" or "),
    isTrivial(schema.default) ? "" : `default \`${JSON.stringify(schema.default)}\``,
  ]
    .filter((limit) => limit !== "")
    .join("; ");
}

function isTrivial(value: unknown): boolean {
  return value === undefined || ['""', "{}", "[]"].includes(JSON.stringify(value));
}

function range(from: number | undefined, to: number | undefined, unit = ""): string {
  const number = (value: number) => value.toLocaleString("en-US");
  const text =
    to === undefined
      ? from === undefined
        ? ""
        : `at least ${number(from)}`
      : from === undefined
        ? `at most ${number(to)}`
        : `${number(from)} to ${number(to)}`;
  return text === "" ? "" : `${text} ${unit}`.trim();
}
