import { scopes } from "../../keys/scopes.ts";
import type { PayloadLimits } from "../../limits.ts";
import type { Operations } from "../../operations/all.ts";
import type { Operation } from "../../operations/operation.ts";
import { about, conventions, nestingRule } from "../about.ts";
import { exampleHost, exampleKeyFile } from "../place.ts";
import { curl } from "./curl.ts";
import { featuresOf, listOperations, type Objects } from "./feature-pages.ts";
import { type Html, html, prose } from "./html.ts";
import { codeBlock, examples, folded, type Page } from "./layout.ts";
import { featurePath, guidesPath, objectsPath } from "./paths.ts";

/** `/docs`: an introduction, a first call, and lists of every HTTP operation and object, under the anchors that they once had here. */
export function httpPage(limits: PayloadLimits, operations: Operations, objects: Objects): Page {
  const features = featuresOf(operations);
  return {
    path: "/docs",
    title: "HTTP API",
    entries: [
      { id: "first-message", label: "A first message" },
      { id: "conventions", label: "Conventions" },
      { id: "scopes", label: "Scopes" },
      {
        id: "operations",
        label: "Operations",
        entries: features.map(({ tag }) => ({ href: featurePath(tag), label: tag })),
      },
      { href: objectsPath, label: "Objects" },
    ],
    main: html`<h1>${about.title}</h1>
<p class="lead">${prose(about.introduction)}</p>
<p>New to Herald? <a href="/docs/tutorial/first-message">A tutorial</a> takes ten minutes, and there is <a href="${guidesPath}">a guide</a> for each task.</p>
<section id="first-message"><h2><a href="#first-message">A first message</a></h2>
${firstMessage(operations.sendMessage, operations.createToken)}</section>
<section id="conventions"><h2><a href="#conventions">Conventions</a></h2>
<p>${prose(about.authentication)} ${prose(about.retries)}</p>
<ul>${[...conventions, ...nestingRule(limits), about.strictness].map((rule) => html`<li>${prose(rule)}</li>`)}</ul></section>
<section id="scopes"><h2><a href="#scopes">Scopes</a></h2>
<p>Scopes determine what a key may do. Each operation names the scope that it needs.</p>
<ul>${Object.entries(scopes).map(([scope, allows]) => html`<li><code>${scope}</code> ${prose(allows)}</li>`)}</ul></section>
<section id="operations"><h2><a href="#operations">Operations</a></h2>
${features.map(
  ({
    tag,
    description,
    members,
  }) => html`<section class="part" id="${tag}"><h3><a class="moved" href="${featurePath(tag)}">${tag}</a></h3>
<p>${prose(description)}</p>
${folded(`${members.length} operations`, listOperations(members))}</section>`,
)}</section>
<section id="objects"><h2><a href="${objectsPath}">Objects</a></h2>
<p>The objects that requests and responses contain.</p>
<ul class="codes">${objects.ids.map((id) => html`<li id="${id}"><a class="moved" href="${objectsPath}#${id}">${id}</a></li>`)}</ul></section>`,
  };
}

function firstMessage(send: Operation, createToken: Operation): Html {
  const token = curl({ ...createToken, bodyExample: undefined }).replace("curl ", "curl -sSf ");
  const listen = [
    `export HERALD=http://${exampleHost}`,
    `export HERALD_ADMIN_API_KEY=$(cat ${exampleKeyFile})`,
    `TOKEN=$(${token} \\\n  | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`,
    'curl -N "$HERALD/sse" -H "Authorization: Bearer $TOKEN"',
  ];
  return html`<p>Go online as a user of the organization <code>demo</code>, which <code>npm start</code> creates in an empty data folder: get a token and listen. The commands read an API key from the file <code>${exampleKeyFile}</code>, so run them in the folder where the server was started; save yours there, if there is none. The first key of a server is in its data folder.</p>
${examples(codeBlock("One terminal", listen.join("\n")))}
<p>Send a message to a conversation of that user. It appears in the first terminal.</p>
${examples(codeBlock("Another terminal, with the same two exports", curl(send)))}
<p>Then read how a client <a href="/docs/realtime">connects and recovers</a>, and how to handle each <a href="/docs/errors">error</a>. For machines, there are <a href="/openapi.json">openapi.json</a> and <a href="/asyncapi.json">asyncapi.json</a>.</p>`;
}
