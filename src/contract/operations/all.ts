import { z } from "zod";
import type { PayloadLimits } from "../limits.ts";
import { auditOperations } from "./audit.ts";
import { createBatchOperations } from "./batch.ts";
import { createConversationOperations } from "./conversations.ts";
import { deliveryOperations } from "./delivery.ts";
import { createDirectoryOperations } from "./directory.ts";
import { fileOperations } from "./files.ts";
import { keyOperations } from "./keys.ts";
import { createMessageChangeOperations } from "./message-changes.ts";
import { createMessageOperations } from "./messages.ts";
import { defineOperation, named, type OperationAnswer } from "./operation.ts";
import { presenceOperations } from "./presence.ts";
import { createProposalOperations } from "./proposals.ts";
import { readOperations } from "./reads.ts";
import { createScheduleOperations } from "./schedule.ts";
import { sessionOperations } from "./sessions.ts";
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
const open = { method: "get", scope: undefined } as const;

function documentOperation(path: string, summary: string, document: OperationAnswer) {
  return defineOperation({
    ...open,
    path,
    tag: "Documents",
    summary,
    description: "Answers `If-None-Match` (RFC 9110), so that programs need not load it again.",
    answers: {
      200: { ...document, headers: { ETag: "Changes with the document." } },
      304: { description: "The document is that of `If-None-Match`." },
    },
  });
}

/** Operations that need no key. */
const openOperations = {
  getHealth: defineOperation({
    ...open,
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
  getOpenApi: documentOperation("/openapi.json", "Get this document", {
    description: "OpenAPI 3.1.",
    schema: z.looseObject({ openapi: z.string() }),
    example: { openapi: "3.1.1" },
  }),
  getAsyncApi: documentOperation("/asyncapi.json", "Get the document of the real-time API: events and frames", {
    description: "AsyncAPI 3.",
    schema: z.looseObject({ asyncapi: z.string() }),
    example: { asyncapi: "3.0.0" },
  }),
};

/** Every HTTP operation of Herald, with the limits that its schemas check. Both the documents and the router use it. */
export function createOperations(limits: PayloadLimits) {
  return named({
    ...createMessageOperations(limits),
    ...createMessageChangeOperations(limits),
    ...readOperations,
    ...createBatchOperations(limits),
    ...createScheduleOperations(limits),
    ...createProposalOperations(limits),
    ...createDirectoryOperations(limits),
    ...createConversationOperations(limits),
    ...deliveryOperations,
    ...createTransferOperations(limits),
    ...fileOperations,
    ...webhookOperations,
    ...presenceOperations,
    ...keyOperations,
    ...sessionOperations,
    ...auditOperations,
    ...openOperations,
  });
}

/** Every HTTP operation, by its `operationId`. */
export type Operations = ReturnType<typeof createOperations>;
