import { z } from "zod";
import { auditEntry } from "../../src/contract/audit.ts";
import { errorResponse, frameEvents, frameExchanges } from "../../src/contract/connections/frame-messages.ts";
import { problemSchema } from "../../src/contract/errors/problem.ts";
import { defaultPayloadLimits } from "../../src/contract/limits.ts";
import { createOperations } from "../../src/contract/operations/all.ts";
import type { Operation } from "../../src/contract/operations/operation.ts";
import * as notices from "../../src/contract/webhooks/notices.ts";
import { fixturesSchema } from "../sdk/behaviour/fixture.ts";

function named(schema: z.ZodType | undefined): [string, z.ZodType][] {
  const id = schema === undefined ? undefined : z.globalRegistry.get(schema)?.id;
  return schema === undefined || id === undefined ? [] : [[id, schema]];
}

/** Every named schema of the contract: bodies, answers, frames, events, notices of webhooks, errors; and that of the fixtures for clients. */
export function contractSchemas(): Map<string, z.ZodType> {
  const operations = Object.values<Operation>(createOperations(defaultPayloadLimits));
  return new Map([
    ...operations.flatMap(({ body, answers }) => [
      ...named(body),
      ...Object.values(answers).flatMap(({ schema }) => named(schema)),
    ]),
    ...Object.values(frameExchanges).flatMap(({ request, response }) => [
      ...named(request.schema),
      ...named(response.schema),
    ]),
    ...Object.values(frameEvents).flatMap(({ schema }) => named(schema)),
    ...Object.values(notices).flatMap((schema) => named(schema)),
    ...named(errorResponse.schema),
    ...named(problemSchema),
    ...named(auditEntry),
    ["Fixtures", fixturesSchema],
  ]);
}
