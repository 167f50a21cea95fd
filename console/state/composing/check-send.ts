import "./zod-without-eval.ts";
import { type FieldError, HeraldError } from "../../../src/contract/errors/errors.ts";
import type { PayloadLimits } from "../../../src/contract/limits.ts";
import { createSendMessageRequest, createSendSystemMessageRequest } from "../../../src/contract/messages/messages.ts";
import { validate } from "../../../src/contract/requests.ts";

/** No limits: they are server settings, so the server itself reports when one is exceeded. */
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

/** The errors that the server would report for a request, by the contract's schemas. This module is loaded on demand. */
export function checkSend(kind: "message" | "system_message", request: unknown): FieldError[] {
  try {
    validate(schemas[kind], request);
    return [];
  } catch (error) {
    if (error instanceof HeraldError) return error.fields;
    throw error;
  }
}
