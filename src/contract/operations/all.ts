import { z } from "zod";
import type { PayloadLimits } from "../limits.ts";
import { auditOperations } from "./audit.ts";
import { createBatchOperations } from "./batch.ts";
import { createConversationOperations } from "./conversations.ts";
import { deliveryOperations } from "./delivery.ts";
import { createTokenOperations, directoryOperations } from "./directory.ts";
import { feedOperations } from "./feed.ts";
import { fileOperations } from "./files.ts";
import { keyOperations } from "./keys.ts";
import { createMessageChangeOperations } from "./message-changes.ts";
import { createMessageOperations } from "./messages.ts";
import { defineOperation, noParams, noQuery, type Operation } from "./operation.ts";
import { presenceOperations } from "./presence.ts";
import { readOperations } from "./reads.ts";
import { createScheduleOperations } from "./schedule.ts";
import { createTransferOperations } from "./transfer.ts";
import { webhookOperations } from "./webhooks.ts";

const health = z
  .strictObject({
    status: z.enum(["ok", "unavailable"]).meta({ description: "`unavailable` if the status is 503, otherwise `ok`." }),
    checks: z.record(z.string(), z.string()).meta({
      description:
        "The result of each check: `ok`, or a description of the problem. `/healthz` checks `node` and `event_loop`; `/readyz` also checks `store`, which is whether the database stores what it is given, and, if the node is part of a cluster, `bus`. A node stays ready while the bus is down or the event loop is delayed.",
    }),
  })
  .meta({ id: "Health" });
const open = {
  method: "get",
  params: noParams,
  query: noQuery,
  body: undefined,
  scope: undefined,
  errors: [],
} as const;

/** Operations that need no key. */
const openOperations = {
  getHealth: defineOperation({
    ...open,
    errors: [],
    operationId: "getHealth",
    path: "/healthz",
    tag: "Operation",
    summary: "Check whether the process is alive",
    answers: {
      200: {
        description: "The process is alive.",
        schema: health,
        example: { status: "ok", checks: { node: "ok", event_loop: "ok" } },
      },
    },
  }),
  getReadiness: defineOperation({
    ...open,
    errors: [],
    operationId: "getReadiness",
    path: "/readyz",
    tag: "Operation",
    summary: "Check whether the node accepts requests",
    answers: {
      200: {
        description: "The node is ready.",
        schema: health,
        example: { status: "ok", checks: { node: "ok", event_loop: "ok", store: "ok", bus: "ok" } },
      },
      503: {
        description: "The node is not ready. `checks` says why.",
        schema: health,
        example: {
          status: "unavailable",
          checks: { node: "ok", event_loop: "ok", store: "its disk is full", bus: "ok" },
        },
      },
    },
  }),
  getMetrics: defineOperation({
    ...open,
    operationId: "getMetrics",
    path: "/metrics",
    tag: "Operation",
    summary: "Get the metrics of this node, for Prometheus",
    description:
      "If `HERALD_METRICS_TOKEN` is set, the request must carry it as `Authorization: Bearer …`. Otherwise only programs on the same machine get a response, and callers at the internal address (`HERALD_ADMIN_PORT`); all others get 404. The metrics are at most one second old. No label names an organization, a user or a key.",
    answers: {
      200: {
        description: "The metrics, in the Prometheus text format 0.0.4.",
        contentType: "text/plain",
        schema: z.string(),
        example:
          "# HELP herald_organizations Organizations with connections to this node.\n# TYPE herald_organizations gauge\nherald_organizations 17\n",
      },
    },
    errors: ["unauthorized", "not_found"],
  }),
  getOpenApi: defineOperation({
    ...open,
    errors: [],
    operationId: "getOpenApi",
    path: "/openapi.json",
    tag: "Documents",
    summary: "Get this document",
    description: "Answers `If-None-Match` (RFC 9110), so that programs need not load it again.",
    answers: {
      200: {
        description: "OpenAPI 3.1.",
        headers: { ETag: "Changes with the document." },
        schema: z.looseObject({ openapi: z.string() }),
        example: { openapi: "3.1.1" },
      },
      304: { description: "The document is that of `If-None-Match`." },
    },
  }),
  getAsyncApi: defineOperation({
    ...open,
    errors: [],
    operationId: "getAsyncApi",
    path: "/asyncapi.json",
    tag: "Documents",
    summary: "Get the document of the real-time API: events and frames",
    description: "Answers `If-None-Match` (RFC 9110), so that programs need not load it again.",
    answers: {
      200: {
        description: "AsyncAPI 3.",
        headers: { ETag: "Changes with the document." },
        schema: z.looseObject({ asyncapi: z.string() }),
        example: { asyncapi: "3.0.0" },
      },
      304: { description: "The document is that of `If-None-Match`." },
    },
  }),
};

/** Every HTTP operation of Herald, with the limits that its schemas check. Both the documents and the router use it. */
export function createOperations(limits: PayloadLimits) {
  return {
    ...createMessageOperations(limits),
    ...createMessageChangeOperations(limits),
    ...readOperations,
    ...createBatchOperations(limits),
    ...createScheduleOperations(limits),
    ...directoryOperations,
    ...createTokenOperations(limits),
    ...createConversationOperations(limits),
    ...deliveryOperations,
    ...createTransferOperations(limits),
    ...fileOperations,
    ...webhookOperations,
    ...presenceOperations,
    ...feedOperations,
    ...keyOperations,
    ...auditOperations,
    ...openOperations,
  } satisfies Record<string, Operation>;
}

/** Every HTTP operation, by its `operationId`. */
export type Operations = ReturnType<typeof createOperations>;
