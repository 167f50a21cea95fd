import type {
  ChangeAnswer,
  DryRunAnswer,
  MessageAnswer,
  MessageDeleteEnvelope,
  MessageEditEnvelope,
  MessageEnvelope,
  MessageReactionEnvelope,
  ReadEnvelope,
  SystemMessageAnswer,
  SystemMessageDeleteEnvelope,
  SystemMessageEnvelope,
  TypingEnvelope,
  Waited,
} from "../../types.ts";
import { createUuid } from "../../uuid.ts";
import type { CallOptions, Exchange, Request } from "../exchange.ts";
import { preferenceOf, type SendOptions, withDelivery } from "../wait.ts";

/** Creates the calls that send, edit, react, take back and mark as read. */
export function createMessageCalls(exchange: Exchange, request: Request) {
  /** Sends what is idempotent by its id, and may wait for its delivery. */
  async function send<Answer extends object>(
    path: string,
    body: object,
    { signal, ...options }: SendOptions,
  ): Promise<Answer & Waited> {
    const answer = await exchange("POST", path, body, { isSafe: true, signal, ...preferenceOf(options) });
    return withDelivery(answer.body as Answer, answer.headers);
  }

  return {
    /**
     * Sends a message to a conversation. Resolves when it is stored; with `wait`, when it is delivered. Compose `message.id` of what
     * happened, such as `order-placed:user-123:order-456`: then a repeated call sends nothing twice, even after a crash.
     */
    async sendMessage(envelope: MessageEnvelope, options: SendOptions = {}): Promise<MessageAnswer & Waited> {
      const message = { ...envelope.message, id: envelope.message.id ?? createUuid() };
      return send<MessageAnswer>("/admin/message", { ...envelope, message }, options);
    },
    /**
     * Sends a system message to listed users, to a conversation or to everyone. Resolves when it is stored; with `wait`, when it is
     * delivered. Users who are offline receive it only with
     * `keep_days`. Compose `messageSystem.id` as for `sendMessage`.
     */
    async sendSystemMessage(
      envelope: SystemMessageEnvelope,
      options: SendOptions = {},
    ): Promise<SystemMessageAnswer & Waited> {
      const messageSystem = { ...envelope.messageSystem, id: envelope.messageSystem.id ?? createUuid() };
      return send<SystemMessageAnswer>("/admin/message/system", { ...envelope, messageSystem }, options);
    },
    /** Checks a message and returns whom `sendMessage` would reach, without storing or sending anything. */
    async tryMessage(envelope: MessageEnvelope, options: CallOptions = {}): Promise<DryRunAnswer> {
      return request("POST", "/admin/message?dry_run=true", envelope, { ...options, isSafe: true });
    },
    /** Checks a system message and returns whom `sendSystemMessage` would reach, without storing or sending anything. */
    async trySystemMessage(envelope: SystemMessageEnvelope, options: CallOptions = {}): Promise<DryRunAnswer> {
      return request("POST", "/admin/message/system?dry_run=true", envelope, { ...options, isSafe: true });
    },

    /** Edits a message that `senderId` sent. Resolves when the edit is stored; the same edit again changes nothing. */
    async editMessage(envelope: MessageEditEnvelope, options: CallOptions = {}): Promise<ChangeAnswer> {
      return request("PUT", "/admin/message", envelope, options);
    },
    /** Checks an edit and returns who would hear it, without storing anything. */
    async tryEdit(envelope: MessageEditEnvelope, options: CallOptions = {}): Promise<DryRunAnswer> {
      return request("PUT", "/admin/message?dry_run=true", envelope, options);
    },
    /** Changes a participant's reactions to a message. What is there already, or is not, changes nothing. */
    async react(envelope: MessageReactionEnvelope, options: CallOptions = {}): Promise<ChangeAnswer> {
      return request("PUT", "/admin/message/reaction", envelope, options);
    },
    /** Checks a change of reactions and returns who would hear it, without storing anything. */
    async tryReaction(envelope: MessageReactionEnvelope, options: CallOptions = {}): Promise<DryRunAnswer> {
      return request("PUT", "/admin/message/reaction?dry_run=true", envelope, options);
    },
    /**
     * Takes messages of one conversation back, all or none. If the response is lost, the call is retried, and then rejects with
     * 404 `message_not_found` because the messages are gone already. With the type `myself`, hides them from the lists of `senderId`.
     */
    async recallMessages(envelope: MessageDeleteEnvelope, options: CallOptions = {}): Promise<ChangeAnswer> {
      return request("DELETE", "/admin/message", envelope, options);
    },
    /** Checks a recall and returns who would hear it, without storing anything. */
    async tryRecall(envelope: MessageDeleteEnvelope, options: CallOptions = {}): Promise<DryRunAnswer> {
      return request("DELETE", "/admin/message?dry_run=true", envelope, options);
    },
    /**
     * Takes system messages of one sender back, all or none. If the response is lost, the call is retried, and then rejects like
     * `recallMessages`.
     */
    async recallSystemMessages(
      envelope: SystemMessageDeleteEnvelope,
      options: CallOptions = {},
    ): Promise<ChangeAnswer> {
      return request("DELETE", "/admin/message/system", envelope, options);
    },
    /** Checks a recall of system messages and returns who would hear it, without storing anything. */
    async trySystemRecall(envelope: SystemMessageDeleteEnvelope, options: CallOptions = {}): Promise<DryRunAnswer> {
      return request("DELETE", "/admin/message/system?dry_run=true", envelope, options);
    },

    /**
     * Marks a conversation as read by a participant, up to the newest of `ids` or to its end. Each author of what is newly read
     * hears it. An earlier mark stays.
     */
    async markRead(envelope: ReadEnvelope, options: CallOptions = {}): Promise<void> {
      await request("PUT", "/admin/message/read", envelope, options);
    },
    /**
     * Tells the other participants of a conversation who are connected that a user is typing, or has stopped. It holds until the next
     * message of the user, or for 10 s: repeat it while it goes on. Nothing is stored, and it may be lost.
     */
    async tellTyping(envelope: TypingEnvelope, options: CallOptions = {}): Promise<void> {
      await request("PUT", "/admin/message/typing", envelope, options);
    },
    /** Checks a read and returns how many authors would hear it from `markRead`, without marking anything. */
    async tryRead(envelope: ReadEnvelope, options: CallOptions = {}): Promise<DryRunAnswer> {
      return request("PUT", "/admin/message/read?dry_run=true", envelope, options);
    },
  };
}
