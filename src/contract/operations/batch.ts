import { z } from "zod";
import { messageExample } from "../documents/examples.ts";
import type { PayloadLimits } from "../limits.ts";
import { batchAnswer, batchQuery } from "../messages/batch.ts";
import { isComplete } from "../messages/messages.ts";
import { linesType } from "../transfer/lines.ts";
import { createMessageOperations } from "./messages.ts";
import { defineOperation } from "./operation.ts";

const exampleMid = "order-4711-shipped";

/** Many sends in one request (api.md, section 2.1). */
export function createBatchOperations(limits: PayloadLimits) {
  const { sendMessage, sendSystemMessage } = createMessageOperations(limits);
  const line = z.union([sendMessage.body, sendSystemMessage.body]).meta({
    id: "BatchLine",
    ...isComplete.meta,
    description: "One line: the body of a message, without `open`, or of a system message.",
  });
  return {
    sendBatch: defineOperation({
      method: "post",
      path: "/admin/message/batch",
      tag: "Messages",
      scope: "any",
      limitsItself: true,
      summary: "Send many messages and system messages",
      description:
        "Reads one JSON object per line, the body of either send, for as long as the caller sends, and answers while it reads: one line for each, in the same order, as soon as it is stored. The key needs `message:send` for messages and `system:send` for system messages. A bad line fails alone, and the others are sent. Lines are stored in their order. A blank line is skipped, and counts as a line. Each line counts as one request, and where a single request would be refused with 429, the batch waits. After a break the caller sends all lines again with the same ids, and nothing is sent twice. A caller that does not read the response stops the batch.",
      query: batchQuery,
      lines: line,
      bodyExample: sendMessage.bodyExample,
      answers: {
        200: {
          description: "One line for each line of the request, and one more only if the batch ended early.",
          contentType: linesType,
          schema: batchAnswer,
          example: {
            line: 1,
            status: 201,
            ask: { mid: exampleMid, server_mid: messageExample._id, t: messageExample.t },
          },
        },
      },
    }),
  };
}
