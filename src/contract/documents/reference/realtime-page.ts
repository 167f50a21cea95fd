import { errorResponse, type FrameMessage, frameEvents, frameExchanges } from "../../connections/frame-messages.ts";
import { closingRule, deliveryPromise, realtimeChannels, recovery } from "../../connections/realtime.ts";
import { describeCloseCodes } from "../asyncapi.ts";
import { createSchemaCollector, type JsonSchema, refName } from "../json-schema.ts";
import { exampleHost } from "../place.ts";
import { fieldsTable, objectSections, referredIds } from "./fields.ts";
import { type Html, html, json, prose } from "./html.ts";
import { codeBlock, examples, folded, type Page, scrollingTable } from "./layout.ts";
import { closeCodePath } from "./paths.ts";

/** The anchor of an event. A request may have the same name. */
export function anchorOf(event: string): string {
  return Object.hasOwn(frameExchanges, event) ? `${event}-event` : event;
}

/** `/docs/realtime`: how a client connects, its requests, the events it receives, and why connections close. */
export function realtimePage(): Page {
  const schemas = createSchemaCollector();
  const used: JsonSchema[] = [];
  const fields = (message: FrameMessage, io: "input" | "output"): Html | undefined => {
    const schema = schemas.schemas[refName(schemas.add(message.schema, io).$ref ?? "")] ?? {};
    used.push(schema);
    return fieldsTable(`Members of the frame ${message.title}`, schema, schemas.schemas);
  };

  const requests = Object.entries(frameExchanges).map(
    ([name, { summary, request, response }]) => html`<section class="operation" id="${name}">
<h3><a href="#${name}"><code>${name}</code></a></h3>
<p>${prose(summary)}</p>
${folded(
  "Request and response",
  html`<h4>Request</h4>${fields(request, "input")}
<h4>Response</h4>${fields(response, "output")}
${examples(codeBlock("Request", json(request.example)), codeBlock("Response", json(response.example)))}`,
)}</section>`,
  );
  const events = Object.entries(frameEvents).map(
    ([name, event]) => html`<section class="operation" id="${anchorOf(name)}">
<h3><a href="#${anchorOf(name)}"><code>${name}</code></a></h3>
<p>${prose(event.summary)}</p>
${folded(
  "Members and an example",
  html`${fields(event, "output")}
${examples(codeBlock("Event", json(event.example)))}`,
)}</section>`,
  );
  const errorFields = fields(errorResponse, "output");
  const objects = new Set(used.flatMap((schema) => [...referredIds(schema, schemas.schemas)]));

  return {
    path: "/docs/realtime",
    title: "Real time",
    entries: [
      { id: "websocket", label: realtimeChannels.ws.title },
      { id: "sse", label: realtimeChannels.sse.title },
      { id: "requests", label: "Requests", entries: Object.keys(frameExchanges).map((id) => ({ id, label: id })) },
      { id: "frame-errors", label: "Errors" },
      {
        id: "events",
        label: "Events",
        entries: Object.keys(frameEvents).map((name) => ({ id: anchorOf(name), label: name })),
      },
      { id: "recovery", label: "Recovery" },
      { id: "close-codes", label: "Close codes" },
      { id: "objects", label: "Objects", entries: [...objects].sort().map((id) => ({ id, label: id })) },
    ],
    main: html`<h1>Real time</h1>
<p class="lead">${prose(deliveryPromise)}</p>
<section id="websocket"><h2><a href="#websocket">${realtimeChannels.ws.title}</a></h2>
<p class="address"><span class="method get">GET</span> <code>${realtimeChannels.ws.address}</code></p>
<p>${prose(realtimeChannels.ws.description)}</p>
${examples(codeBlock("A session", transcript(), "wrapped"))}</section>
<section id="sse"><h2><a href="#sse">${realtimeChannels.sse.title}</a></h2>
<p class="address"><span class="method get">GET</span> <code>${realtimeChannels.sse.address}</code></p>
<p>${prose(realtimeChannels.sse.description)}</p>
${examples(codeBlock("Request", sseCurl), codeBlock("Stream", sseExample(), "wrapped"))}</section>
<section id="requests"><h2><a href="#requests">Requests</a></h2>
<p>A client may send these requests over its WebSocket.</p>
${requests}</section>
<section id="frame-errors"><h2><a href="#frame-errors">Errors</a></h2>
<p>${prose(errorResponse.summary)} The codes are those of the <a href="/docs/errors">HTTP errors</a>.</p>
${errorFields}
${examples(codeBlock("Error", json(errorResponse.example)))}</section>
<section id="events"><h2><a href="#events">Events</a></h2>
<p>Herald sends these events unprompted.</p>
${events}</section>
<section id="recovery"><h2><a href="#recovery">Recovery</a></h2><p>${prose(recovery)}</p></section>
<section id="close-codes"><h2><a href="#close-codes">Close codes</a></h2>
<p>${prose(closingRule)}</p>
${closeCodesTable()}</section>
<section id="objects"><h2><a href="#objects">Objects</a></h2>
${objectSections(objects, schemas.schemas)}</section>`,
  };
}

const sseCurl = 'curl -N "$HERALD/sse" \\\n  -H "Authorization: Bearer $TOKEN"';

function transcript(): Html {
  const { request, response } = frameExchanges.connect;
  return html`<span class="quiet">ws://${exampleHost}${realtimeChannels.ws.address}</span>
<span class="quiet">client →</span> ${JSON.stringify(request.example)}
<span class="quiet">server →</span> ${JSON.stringify(response.example)}
<span class="quiet">server →</span> ${JSON.stringify(frameEvents.message.example)}`;
}

function sseExample(): string {
  const { message, system_message: systemMessage } = frameEvents;
  return [
    "event: message",
    `id: ${message.example.message._id}`,
    `data: ${JSON.stringify(message.example)}`,
    "",
    "event: system_message",
    `data: ${JSON.stringify(systemMessage.example)}`,
  ].join("\n");
}

function closeCodesTable(): Html {
  const rows = describeCloseCodes().map(
    ({ code, meaning, client }) =>
      html`<tr><td class="name"><a href="${closeCodePath(code)}"><code>${code}</code></a></td><td>${prose(meaning)}</td><td>${prose(client)}</td></tr>`,
  );
  return scrollingTable(
    "Close codes",
    html`<table><thead><tr><th>Code</th><th>Meaning</th><th>Client behaviour</th></tr></thead><tbody>${rows}</tbody></table>`,
  );
}
