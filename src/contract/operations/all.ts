import { z } from "zod";
import type { PayloadLimits } from "../limits.ts";
import { auditOperations } from "./audit.ts";
import { createConversationOperations } from "./conversations.ts";
import { deliveryOperations } from "./delivery.ts";
import { createTokenOperations, directoryOperations } from "./directory.ts";
import { feedOperations } from "./feed.ts";
import { keyOperations } from "./keys.ts";
import { createMessageOperations } from "./messages.ts";
import { defineOperation, noParams, noQuery, type Operation } from "./operation.ts";
import { presenceOperations } from "./presence.ts";

const health = z
  .strictObject({
    status: z.enum(["ok", "unavailable"]).meta({ description: "`ok`, or what the status of the answer says." }),
    checks: z.record(z.string(), z.string()).meta({
      description:
        "What was checked, and `ok` or what is wrong: `node`, `event_loop`; of the readiness also `store` and, with other nodes, `bus`. A bus that is away or an event loop that is late leaves a node ready.",
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

/** Operations that take no key. */
const openOperations = {
  getHealth: defineOperation({
    ...open,
    errors: [],
    operationId: "getHealth",
    path: "/healthz",
    tag: "Operation",
    summary: "Whether the process is alive",
    answers: {
      200: {
        description: "Alive.",
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
    summary: "Whether the node takes requests",
    answers: {
      200: {
        description: "Ready.",
        schema: health,
        example: { status: "ok", checks: { node: "ok", event_loop: "ok", store: "ok", bus: "ok" } },
      },
      503: {
        description: "Not ready: `checks` says why.",
        schema: health,
        example: {
          status: "unavailable",
          checks: { node: "ok", event_loop: "ok", store: "Connection closed", bus: "ok" },
        },
      },
    },
  }),
  getMetrics: defineOperation({
    ...open,
    operationId: "getMetrics",
    path: "/metrics",
    tag: "Operation",
    summary: "What this node counts and measures, for Prometheus",
    description:
      "With `HERALD_METRICS_TOKEN` it takes that as `Authorization: Bearer …`; without it, it answers programs of the same machine only, and 404 to all others. At most a second old. No label names an organization, a user or a key.",
    answers: {
      200: {
        description: "The metrics, in the text format of Prometheus 0.0.4.",
        contentType: "text/plain",
        schema: z.string(),
        example:
          "# HELP herald_organizations Organizations that have connections here.\n# TYPE herald_organizations gauge\nherald_organizations 17\n",
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
    summary: "This document",
    answers: {
      200: {
        description: "OpenAPI 3.1.",
        schema: z.looseObject({ openapi: z.string() }),
        example: { openapi: "3.1.1" },
      },
    },
  }),
  getAsyncApi: defineOperation({
    ...open,
    errors: [],
    operationId: "getAsyncApi",
    path: "/asyncapi.json",
    tag: "Documents",
    summary: "The real-time side: events and frames",
    answers: {
      200: {
        description: "AsyncAPI 3.",
        schema: z.looseObject({ asyncapi: z.string() }),
        example: { asyncapi: "3.0.0" },
      },
    },
  }),
};

/** Every HTTP operation of Herald, with the limits that its schemas check. The documents and the router both read it. */
export function createOperations(limits: PayloadLimits) {
  return {
    ...createMessageOperations(limits),
    ...directoryOperations,
    ...createTokenOperations(limits),
    ...createConversationOperations(limits),
    ...deliveryOperations,
    ...presenceOperations,
    ...feedOperations,
    ...keyOperations,
    ...auditOperations,
    ...openOperations,
  } satisfies Record<string, Operation>;
}

/** Every HTTP operation, by its `operationId`. */
export type Operations = ReturnType<typeof createOperations>;
