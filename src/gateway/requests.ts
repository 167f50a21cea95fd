import { type FrameOperation, frameRequests } from "../contract/frames.ts";
import { validate } from "../contract/validation.ts";
import type { HistoryReader } from "../services/history.ts";
import type { Receipts } from "../services/receipts.ts";

type Dependencies = { history: HistoryReader; receipts: Receipts };

/** Answers the requests of a connected user; throws `HeraldError`. */
export type RequestHandler = (
  user: { org: string; uid: string },
  operation: Exclude<FrameOperation, "connect">,
  payload: unknown,
) => Promise<object>;

/** Requests that read, and receipts. */
export function createRequestHandler({ history, receipts }: Dependencies): RequestHandler {
  return async ({ org, uid }, operation, payload) => {
    if (operation === "ping") {
      validate(frameRequests.ping, payload);
      return { pong: {} };
    }
    if (operation === "conversation_list") {
      const { items, cursor } = await history.conversationsOf(
        org,
        uid,
        validate(frameRequests.conversation_list, payload),
      );
      return { conversations: items, cursor };
    }
    if (operation === "ack") {
      await receipts.acknowledge({ org, uid }, validate(frameRequests.ack, payload).ids);
      return { success: true };
    }
    const { cid, ...query } = validate(frameRequests.message_list, payload);
    return { messages: await history.messagesFor(org, uid, cid, query) };
  };
}
