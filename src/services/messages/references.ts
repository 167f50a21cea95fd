import type { Message } from "../../contract/messages/events.ts";

type References = Pick<Message, "replied_message_id" | "forwarded_message_id">;

/** The members of a message that name others, as an event has them. */
export function referencesOf({ replied_message_id, forwarded_message_id }: References): References {
  return {
    ...(replied_message_id !== undefined && { replied_message_id }),
    ...(forwarded_message_id !== undefined && { forwarded_message_id }),
  };
}
