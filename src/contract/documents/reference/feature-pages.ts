import type { Operations } from "../../operations/all.ts";
import { type Operation, operationTags } from "../../operations/operation.ts";
import { createSchemaCollector, refName } from "../json-schema.ts";
import { objectLink, objectSections, referredIds, type Schemas } from "./fields.ts";
import { type Html, html, prose } from "./html.ts";
import { addressOf, folded, type Page } from "./layout.ts";
import { operationSection } from "./operation-section.ts";
import { featurePath, objectsPath, operationPath } from "./paths.ts";

/** The objects that requests and responses contain: their ids in alphabetical order, and the schemas of all. */
export type Objects = { ids: string[]; schemas: Schemas };

type Feature = { tag: Operation["tag"]; description: string; members: Operation[] };

/** `/docs/api/<feature>`: a page for the operations of each feature, and one for the objects that they share. */
export function featurePages(operations: Operations, { ids, schemas }: Objects): Page[] {
  const features = featuresOf(operations);
  const others = [
    ...features.map(({ tag }) => ({ href: featurePath(tag), label: tag })),
    { href: objectsPath, label: "Objects" },
  ];
  const index = { href: "/docs#operations", label: "All operations", entries: others };
  return [
    ...features.map((feature) => {
      const page = featurePage(feature);
      return { ...page, entries: [...page.entries, index] };
    }),
    {
      path: objectsPath,
      title: "Objects",
      entries: [{ id: "all", label: "Objects", entries: ids.map((id) => ({ id, label: id })) }, index],
      main: html`<p class="quiet"><a href="/docs#operations">HTTP API</a></p>
<h1>Objects</h1>
<p class="lead">The objects that requests and responses contain.</p>
<h2 id="all"><a href="#all">All objects</a></h2>
${folded(`${ids.length} objects`, html`<ul class="codes">${ids.map((id) => html`<li>${objectLink(id, "")}</li>`)}</ul>`)}
${objectSections(ids, schemas)}`,
    },
  ];
}

function featurePage({ tag, description, members }: Feature): Page {
  const schemas = createSchemaCollector();
  return {
    path: featurePath(tag),
    title: tag,
    entries: [
      {
        id: "operations",
        label: tag,
        entries: members.map(({ operationId, summary }) => ({ id: operationId, label: summary })),
      },
    ],
    main: html`<p class="quiet"><a href="/docs#operations">HTTP API</a></p>
<h1>${tag}</h1>
<p class="lead">${prose(description)}</p>
<h2 id="operations"><a href="#operations">Operations</a></h2>
${members.map((operation) => operationSection(operation, schemas))}`,
  };
}

/** The features, with their operations in the order of the contract. */
export function featuresOf(operations: Operations): Feature[] {
  const all = Object.values<Operation>(operations);
  const tags = Object.keys(operationTags) as Operation["tag"][];
  return tags.map((tag) => ({
    tag,
    description: operationTags[tag],
    members: all.filter((operation) => operation.tag === tag),
  }));
}

/** A list of links to operations, under the anchors that these had when they were on this page. */
export function listOperations(operations: Operation[]): Html {
  const items = operations.map((operation) => {
    const { operationId, summary } = operation;
    return html`<li id="${operationId}"><a class="moved" href="${operationPath(operation)}">${summary}</a>
${addressOf(operation)}</li>`;
  });
  return html`<ul class="contents">${items}</ul>`;
}

/** Collects the objects of all operations. */
export function objectsOf(operations: Operations): Objects {
  const collector = createSchemaCollector();
  const all = Object.values<Operation>(operations);
  const answers = all
    .flatMap((operation) => Object.values(operation.answers))
    .flatMap(({ schema }) => (schema === undefined ? [] : [collector.add(schema, "output")]));
  const bodies = all
    .flatMap(({ body }) => (body === undefined ? [] : [collector.add(body, "input")]))
    .map((schema) => collector.schemas[refName(schema.$ref ?? "")] ?? schema); // a table shows the body itself
  const ids = new Set([...answers, ...bodies].flatMap((schema) => [...referredIds(schema, collector.schemas)]));
  return { ids: [...ids].sort(), schemas: collector.schemas };
}
