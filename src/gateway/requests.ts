import { type FrameOperation, frameRequests } from "../contract/frames.ts";
import { validate } from "../contract/validation.ts";
import type { HistoryReader } from "../services/history.ts";

/** Answers the requests of a connected user; throws `HeraldError`. */
export type RequestHandler = (
  user: { org: string; uid: string },
  operation: Exclude<FrameOperation, "connect">,
  payload: unknown,
) => Promise<object>;

/** Requests that read. */
export function createRequestHandler({ history }: { history: HistoryReader }): RequestHandler {
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
    const { cid, ...query } = validate(frameRequests.message_list, payload);
    return { messages: await history.messagesFor(org, uid, cid, query) };
  };
}
