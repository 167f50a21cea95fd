import { closeCodes } from "../connections/close-codes.ts";
import {
  errorResponse,
  type FrameMessage,
  frameEvents,
  frameExchanges,
  pascalCase,
} from "../connections/frame-messages.ts";
import { deliveryPromise, realtimeChannels } from "../connections/realtime.ts";
import { about, conventions } from "./about.ts";
import { createSchemaCollector, type SchemaCollector } from "./json-schema.ts";
import { exampleHost } from "./place.ts";

const streamedEvents = [
  "message",
  "system_message",
  "message_edit",
  "message_delete",
  "system_message_delete",
  "message_read",
  "system_message_read",
  "message_reactions_update",
  "message_append",
  "session",
] as const;
const errorName = "ErrorResponse";

/**
 * The AsyncAPI 3.0 document of `/ws` and `/sse`, seen from the server: it *receives* requests and *sends* events. `basePath` is the
 * path below which the server is reached.
 */
export function asyncApiDocument(basePath = "") {
  const schemas = createSchemaCollector();
  const messages: Record<string, unknown> = {};
  const operations: Record<string, unknown> = {};
  const add = (name: string, message: FrameMessage, io: "input" | "output") => {
    messages[name] = describeMessage(name, message, io, schemas);
  };

  for (const [operation, { summary, request, response }] of Object.entries(frameExchanges)) {
    const name = pascalCase(operation);
    add(`${name}Request`, request, "input");
    add(`${name}Response`, response, "output");
    operations[`receive${name}`] = {
      action: "receive",
      channel: channelRef("ws"),
      summary,
      messages: [channelMessageRef("ws", `${name}Request`)],
      reply: {
        channel: channelRef("ws"),
        messages: [channelMessageRef("ws", `${name}Response`), channelMessageRef("ws", errorName)],
      },
    };
  }
  add(errorName, errorResponse, "output");
  const socketNames = Object.keys(messages);

  for (const [event, message] of Object.entries(frameEvents)) {
    const name = eventName(event);
    add(name, message, "output");
    operations[`send${name}`] = describeSend("ws", name, message.summary);
  }
  for (const event of streamedEvents) {
    operations[`stream${eventName(event)}`] = describeSend("sse", eventName(event), frameEvents[event].summary);
  }
  socketNames.push(...Object.keys(frameEvents).map(eventName));

  return {
    asyncapi: "3.0.0",
    info: {
      title: `${about.title}, real time`,
      version: about.version,
      description: [
        about.introduction,
        deliveryPromise,
        conventions
          .slice(0, 3)
          .map((rule) => `- ${rule}`)
          .join("\n"),
      ].join("\n\n"),
      license: { name: about.license },
      tags: [{ name: "WebSocket" }, { name: "SSE" }],
    },
    defaultContentType: "application/json",
    servers: {
      websocket: describeServer("ws", basePath),
      http: describeServer("http", basePath),
    },
    channels: {
      ws: {
        ...describeChannel("ws", socketNames),
        description: [realtimeChannels.ws.description, "## Close codes", closeCodeTable()].join("\n\n"),
        servers: [{ $ref: "#/servers/websocket" }],
        bindings: { ws: { method: "GET", bindingVersion: "0.1.0" } },
        "x-close-codes": describeCloseCodes(),
      },
      sse: {
        ...describeChannel("sse", streamedEvents.map(eventName)),
        description: realtimeChannels.sse.description,
        servers: [{ $ref: "#/servers/http" }],
      },
    },
    operations,
    components: {
      messages,
      schemas: schemas.schemas,
      securitySchemes: {
        userToken: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "JWT",
          description:
            "A user token, from `POST …/users/{uid}/tokens` or the operator's identity provider. Never put it in a URL.",
        },
      },
    },
  };
}

/** Every close code with its reason, in the order of the codes. */
export function describeCloseCodes() {
  return Object.entries(closeCodes)
    .map(([reason, entry]) => ({ reason, ...entry }))
    .sort((left, right) => left.code - right.code);
}

/** The close codes as a Markdown table. */
export function closeCodeTable(): string {
  const rows = describeCloseCodes().map(({ code, meaning, client }) => `| ${code} | ${meaning} | ${client} |`);
  return ["| Code | Meaning | Client behaviour |", "|---|---|---|", ...rows].join("\n");
}

function describeMessage(name: string, message: FrameMessage, io: "input" | "output", schemas: SchemaCollector) {
  const { title, summary, schema, example } = message;
  return { name, title, summary, payload: schemas.add(schema, io), examples: [{ name, payload: example }] };
}

function describeSend(channel: Channel, name: string, summary: string) {
  return { action: "send", channel: channelRef(channel), summary, messages: [channelMessageRef(channel, name)] };
}

function describeChannel(channel: Channel, names: string[]) {
  const { address, title } = realtimeChannels[channel];
  const messages = names.map((name) => [name, { $ref: `#/components/messages/${name}` }]);
  return { address, title, messages: Object.fromEntries(messages) };
}

type Channel = keyof typeof realtimeChannels;

function channelRef(channel: Channel) {
  return { $ref: `#/channels/${channel}` };
}

function channelMessageRef(channel: Channel, name: string) {
  return { $ref: `#/channels/${channel}/messages/${name}` };
}

function eventName(event: string): string {
  return `${pascalCase(event)}Event`;
}

function describeServer(protocol: "ws" | "http", basePath: string) {
  return {
    host: "{host}",
    ...(basePath !== "" && { pathname: basePath }),
    protocol,
    description: `\`${protocol}s\` behind TLS.`,
    security: [{ $ref: "#/components/securitySchemes/userToken" }],
    variables: { host: { default: exampleHost, description: "The address of this server." } },
  };
}
