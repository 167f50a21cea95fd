import type { Message } from "../../contract/messages/events.ts";

type References = Pick<Message, "replied_message_id" | "forwarded_message_id">;

/** The members of a message that name others, as an event has them; `undefined` if there are none, as in most messages. */
export function referencesOf({ replied_message_id, forwarded_message_id }: References): References | undefined {
  if (replied_message_id === undefined && forwarded_message_id === undefined) return undefined;
  return {
    ...(replied_message_id !== undefined && { replied_message_id }),
    ...(forwarded_message_id !== undefined && { forwarded_message_id }),
  };
}
