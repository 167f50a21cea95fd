import type { z } from "zod";
import type { CloseReason } from "../../contract/connections/close-codes.ts";
import { type FrameOperation, frameRequests } from "../../contract/connections/frames.ts";
import { HeraldError, type NamesOf } from "../../contract/errors/errors.ts";
import { errorAbout } from "../../contract/errors/naming.ts";
import { validate } from "../../contract/requests.ts";
import type { Receipts } from "../../services/delivery/receipts.ts";
import type { Acquaintances } from "../../services/directory/acquaintances.ts";
import type { FileAddresses } from "../../services/files/file-addresses.ts";
import { requestCosts } from "../../services/limits/costs.ts";
import type { HistoryReader } from "../../services/messages/history.ts";
import type { Inboxes } from "../../services/messages/inboxes.ts";
import type { ReactionLists } from "../../services/messages/reaction-lists.ts";
import type { Reads } from "../../services/messages/reads.ts";
import type { Activity, ActivityListener } from "../activity.ts";
import type { Connection } from "../connections/connection.ts";
import type { Audiences } from "../fanout/audiences.ts";
import type { Typing } from "../typing.ts";

/** The services that answer requests. */
export type RequestServices = {
  history: Pick<HistoryReader, "conversationsOf" | "messagesFor">;
  receipts: Pick<Receipts, "acknowledge">;
  reactionLists: Pick<ReactionLists, "reactionsTo">;
  reads: Pick<Reads, "markAs">;
  inboxes: Pick<Inboxes, "list" | "mark" | "countUnread">;
  acquaintances: Pick<Acquaintances, "usersByIds" | "participantsByCids">;
  fileAddresses: Pick<FileAddresses, "urlsOf">;
};

type Dependencies = RequestServices & {
  activity: Pick<Activity, "of" | "subscribe" | "unsubscribe">;
  typing: Pick<Typing, "pass">;
  audiences: Pick<Audiences, "setInactive">;
  /** Called when receipts of a connection are stored. */
  onAcknowledged(connection: Asker, ids: readonly string[]): void;
};

/** The connection that asks. */
type Asker = ActivityListener & Pick<Connection, "issuedAt" | "tokenId"> & { publicOrigin: string | undefined };

/** The cost of an answer, and whether it closes the connection. */
type Charge = {
  /** The cost to the user, if that does not follow from the answer's size. */
  cost?: number;
  /** The cost in addition to that of its size. */
  addedCost?: number;
  /** Why the connection is closed after the answer. */
  closing?: CloseReason;
};

/** The content of an answer; messages are JSON texts. */
export type Answer = Charge & ({ body: object } | { messages: string[] });

/** Any operation but `connect`. */
export type Operation = Exclude<FrameOperation, "connect">;

type Handler<Request> = (asker: Asker, request: Request) => Promise<Answer>;

const pong: Answer = { body: { pong: {} } };
const success: Answer = { body: { success: true } };

/** Answers a ping, which needs no session. */
export function answerPing(payload: unknown): Answer {
  validate(frameRequests.ping, payload);
  return pong;
}

/** Answers the requests of a connected user; throws `HeraldError`. */
export type RequestHandler = (asker: Asker, operation: Operation, payload: unknown) => Promise<Answer>;

/** Creates the handler of every request but `connect`. */
export function createRequestHandler(dependencies: Dependencies): RequestHandler {
  const { history, reactionLists, receipts, reads, inboxes } = dependencies;
  const { acquaintances, fileAddresses, activity, typing, audiences, onAcknowledged } = dependencies;

  const handlers: Record<Operation, Handler<unknown>> = {
    ping: on(frameRequests.ping, async () => pong),
    conversation_list: on(frameRequests.conversation_list, async ({ org, uid }, query) => {
      const { items, cursor } = await history.conversationsOf(org, uid, query);
      const unread = items.reduce((sum, item) => sum + item.unread_messages_count, 0);
      return { body: { conversations: items, cursor }, addedCost: requestCosts.counting(unread) };
    }),
    message_list: on(frameRequests.message_list, async ({ org, uid }, { cid, ...query }) => {
      if (query.ids !== undefined && Object.keys(query).some((name) => !["ids", "limit"].includes(name)))
        throw new HeraldError("bad_request", "`ids` cannot be combined with `before`, `after` or `updated_at`");
      const addedCost = query.updated_at === undefined ? 0 : requestCosts.request;
      return { messages: await history.messagesFor(org, uid, cid, query), addedCost };
    }),
    message_reactions_list: on(frameRequests.message_reactions_list, async ({ org, uid }, { mid }) => {
      const { byReaction, count } = await reactionLists.reactionsTo(org, uid, mid);
      return { body: { reactions: byReaction }, addedCost: requestCosts.counting(count) };
    }),
    ack: on(frameRequests.ack, async (asker, { ids }) => {
      await receipts.acknowledge({ org: asker.org, uid: asker.uid }, ids);
      onAcknowledged(asker, ids);
      return { ...success, cost: requestCosts.receipts(ids.length) };
    }),
    message_read: on(frameRequests.message_read, async ({ org, uid }, { cid, ids }) => {
      await reads
        .markAs({ org, uid, cid, ids })
        .catch((error) => refuseAsReader(error, { user: uid, conversation: cid }));
      return success;
    }),
    system_message_list: on(frameRequests.system_message_list, async ({ org, uid }, query) => {
      const system_messages = await inboxes.list(org, uid, query);
      return { body: { system_messages }, addedCost: requestCosts.request };
    }),
    system_message_read: on(frameRequests.system_message_read, async ({ org, uid }, marks) => {
      await inboxes.mark(org, uid, marks);
      return { ...success, addedCost: requestCosts.request };
    }),
    get_users_by_ids: on(frameRequests.get_users_by_ids, async ({ org, uid }, { ids }) => {
      const users = await acquaintances.usersByIds(org, uid, ids);
      return { body: { users }, addedCost: requestCosts.lookups(ids.length) };
    }),
    get_participants_by_cids: on(frameRequests.get_participants_by_cids, async ({ org, uid }, { cids }) => {
      const body = await acquaintances.participantsByCids(org, uid, cids);
      return { body, addedCost: requestCosts.lookups(cids.length) };
    }),
    get_file_urls: on(frameRequests.get_file_urls, async (asker, { file_ids }) => {
      const file_urls = await fileAddresses.urlsOf(asker, file_ids, asker.publicOrigin);
      return { body: { file_urls }, addedCost: requestCosts.lookups(file_ids.length) };
    }),
    user_last_activity: on(frameRequests.user_last_activity, async (asker, { ids }) => {
      const last_activity = await activity.of(asker, ids);
      return { body: { last_activity }, addedCost: requestCosts.lookups(ids.length) };
    }),
    user_last_activity_subscribe: on(frameRequests.user_last_activity_subscribe, async (asker, { id }) => {
      const seconds = await activity.subscribe(asker, id);
      return { body: { last_activity: { [id]: seconds } }, addedCost: requestCosts.lookups(1) };
    }),
    user_last_activity_unsubscribe: on(frameRequests.user_last_activity_unsubscribe, async (asker) => {
      activity.unsubscribe(asker);
      return success;
    }),
    activity_status: on(frameRequests.activity_status, async (asker, { isInactive }) => {
      const changed = audiences.setInactive(asker, isInactive);
      return { ...success, addedCost: requestCosts.audiences(changed) };
    }),
    typing: on(frameRequests.typing, async (asker, status) => {
      const hearers = typing.pass(asker, status);
      return { ...success, addedCost: requestCosts.hearers(hearers) };
    }),
    user_logout: on(frameRequests.user_logout, async () => ({ ...success, closing: "logged_out" })),
  };

  return async (asker, operation, payload) => await handlers[operation](asker, payload);
}

/** Creates a handler that first checks what the client sent. */
function on<Schema extends z.ZodType>(schema: Schema, answer: Handler<z.output<Schema>>): Handler<unknown> {
  return async (asker, payload) => await answer(asker, validate(schema, payload));
}

/** Rethrows the error, but does not reveal to a user outside a conversation whether it exists. */
function refuseAsReader(error: unknown, names: NamesOf<"not_a_participant">): never {
  const isHidden =
    error instanceof HeraldError &&
    (error.code === "sender_not_participant" || error.code === "conversation_not_found");
  throw isHidden ? errorAbout("not_a_participant", names) : error;
}
