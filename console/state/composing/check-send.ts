import "./zod-without-eval.ts";
import { type FieldError, HeraldError } from "../../../src/contract/errors/errors.ts";
import type { PayloadLimits } from "../../../src/contract/limits.ts";
import { createSendMessageRequest, createSendSystemMessageRequest } from "../../../src/contract/messages/messages.ts";
import { validate } from "../../../src/contract/requests.ts";

/** The limits are settings of the server, which tells in its own words when one is passed. */
const lifted: PayloadLimits = {
  bodyCharacters: Number.POSITIVE_INFINITY,
  xBytes: Number.POSITIVE_INFINITY,
  attachments: Number.POSITIVE_INFINITY,
  recipients: Number.POSITIVE_INFINITY,
  tokenSeconds: Number.POSITIVE_INFINITY,
  participants: Number.POSITIVE_INFINITY,
  jsonDepth: Number.POSITIVE_INFINITY,
};

const schemas = {
  message: createSendMessageRequest(lifted),
  system_message: createSendSystemMessageRequest(lifted),
};

/** What the server would find wrong with a request, by the contract's own schemas. This module is loaded when it is needed. */
export function checkSend(kind: "message" | "system_message", request: unknown): FieldError[] {
  try {
    validate(schemas[kind], request);
    return [];
  } catch (error) {
    if (error instanceof HeraldError) return error.fields;
    throw error;
  }
}
