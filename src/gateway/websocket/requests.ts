import { type FrameOperation, frameRequests } from "../../contract/connections/frames.ts";
import { validate } from "../../contract/requests.ts";
import type { Receipts } from "../../services/delivery/receipts.ts";
import type { HistoryReader } from "../../services/messages/history.ts";
import { costs } from "../limits/user-budgets.ts";

type Dependencies = {
  history: HistoryReader;
  receipts: Receipts;
  /** Called when receipts of a connection are stored. */
  onAcknowledged(connection: Asker, ids: readonly string[]): void;
};

/** The connection that asks. */
type Asker = { org: string; uid: string };

/**
 * The content of an answer, its cost to the user if that does not follow from its size, and what it cost beyond its
 * size; messages are JSON texts.
 */
export type Answer =
  | { body: object; cost?: number; addedCost?: number }
  | { messages: string[]; cost?: undefined; addedCost?: undefined };

/** Any operation but `connect`. */
export type Operation = Exclude<FrameOperation, "connect">;

/** Answers the requests of a connected user; throws `HeraldError`. */
export type RequestHandler = (asker: Asker, operation: Operation, payload: unknown) => Promise<Answer>;

/** Creates the handler of reads and receipts. */
export function createRequestHandler({ history, receipts, onAcknowledged }: Dependencies): RequestHandler {
  return async (asker, operation, payload) => {
    const { org, uid } = asker;
    if (operation === "ping") {
      validate(frameRequests.ping, payload);
      return { body: { pong: {} } };
    }
    if (operation === "conversation_list") {
      const query = validate(frameRequests.conversation_list, payload);
      const { items, cursor } = await history.conversationsOf(org, uid, query);
      const unread = items.reduce((sum, item) => sum + item.unread_messages_count, 0);
      return { body: { conversations: items, cursor }, addedCost: costs.counting(unread) };
    }
    if (operation === "ack") {
      const { ids } = validate(frameRequests.ack, payload);
      await receipts.acknowledge({ org, uid }, ids);
      onAcknowledged(asker, ids);
      return { body: { success: true }, cost: costs.receipts(ids.length) };
    }
    const { cid, ...query } = validate(frameRequests.message_list, payload);
    return { messages: await history.messagesFor(org, uid, cid, query) };
  };
}
