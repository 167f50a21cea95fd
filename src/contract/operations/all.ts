import { z } from "zod";
import type { PayloadLimits } from "../limits.ts";
import { auditOperations } from "./audit.ts";
import { createConversationOperations } from "./conversations.ts";
import { directoryOperations } from "./directory.ts";
import { feedOperations } from "./feed.ts";
import { keyOperations } from "./keys.ts";
import { createMessageOperations } from "./messages.ts";
import { defineOperation, noParams, noQuery, type Operation } from "./operation.ts";
import { presenceOperations } from "./presence.ts";

const health = z
  .strictObject({
    status: z.enum(["ok", "unavailable"]).meta({ description: "`ok` when every check is." }),
    checks: z.record(z.string(), z.string()).meta({ description: "What was checked, and what was found." }),
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
    answers: { 200: { description: "Alive.", schema: health, example: { status: "ok", checks: {} } } },
  }),
  getReadiness: defineOperation({
    ...open,
    errors: [],
    operationId: "getReadiness",
    path: "/readyz",
    tag: "Operation",
    summary: "Whether the node takes requests",
    answers: {
      200: { description: "Ready.", schema: health, example: { status: "ok", checks: { store: "ok" } } },
      503: {
        description: "Not ready: `checks` says why.",
        schema: health,
        example: { status: "unavailable", checks: { node: "stopping" } },
      },
    },
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
    ...createConversationOperations(limits),
    ...presenceOperations,
    ...feedOperations,
    ...keyOperations,
    ...auditOperations,
    ...openOperations,
  } satisfies Record<string, Operation>;
}

/** Every HTTP operation, by its `operationId`. */
export type Operations = ReturnType<typeof createOperations>;
