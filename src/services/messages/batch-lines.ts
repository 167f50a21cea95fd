import { invalidRequest } from "../../contract/errors/errors.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import {
  isComplete,
  type SendMessageRequest,
  type SendSystemMessageRequest,
} from "../../contract/messages/messages.ts";
import { createMessageOperations } from "../../contract/operations/messages.ts";
import { parseStrictJson, parseStrictJsonInTurns, validate } from "../../contract/requests.ts";
import { isObject } from "../../lib/json/json-values.ts";
import type { Queue } from "../../lib/queues/queue.ts";
import { type Caller, permitScope } from "../keys/permissions.ts";

/** What a line of a batch asks for; `work` is its cost beyond one request. */
export type BatchLine = { work: number } & (
  | { kind: "message"; request: SendMessageRequest }
  | { kind: "system"; request: SendSystemMessageRequest }
);

/** Reads the lines of batches. */
export type BatchLineReader = ReturnType<typeof createBatchLineReader>;

/** `longLines`: where long lines are read one at a time, so that the values of all are not in memory at once. */
type Options = { limits: PayloadLimits; longLines: Pick<Queue, "add"> };

const longCharacters = 64 * 1024;
const expected = "must have the member `message` or `messageSystem`";

/** Creates a reader that checks lines as the two operations check their bodies. */
export function createBatchLineReader({ limits, longLines }: Options) {
  const { sendMessage, sendSystemMessage } = createMessageOperations(limits);
  const message = sendMessage.body.refine(isComplete.check, isComplete.refusal);

  function check(value: unknown, caller: Caller): BatchLine {
    const hasMessage = isObject(value) && Object.hasOwn(value, "message");
    const hasSystemMessage = isObject(value) && Object.hasOwn(value, "messageSystem");
    if (hasSystemMessage && !hasMessage) {
      permitScope(caller, "system:send");
      const request = validate(sendSystemMessage.body, value);
      return { kind: "system", request, work: sendSystemMessage.workOf?.(request) ?? 0 };
    }
    if (isObject(value) && !hasMessage) throw invalidRequest("", expected, `the line ${expected}`);
    permitScope(caller, "message:send");
    const request = validate(message, value);
    return { kind: "message", request, work: sendMessage.workOf?.(request) ?? 0 };
  }

  return {
    /** Checks a line against the contract and the scopes of the key. Throws what a single request would be refused with. */
    read(line: string, caller: Caller): BatchLine | Promise<BatchLine> {
      if (line.length <= longCharacters) return check(parseStrictJson(line, limits.jsonDepth), caller);
      return longLines.add({ of: caller.keyId }, async () =>
        check(await parseStrictJsonInTurns(line, limits.jsonDepth), caller),
      );
    },
  };
}
