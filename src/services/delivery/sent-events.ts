import { invalidRequest } from "../../contract/errors/errors.ts";
import { errorAbout } from "../../contract/errors/naming.ts";
import type { SentEvent, SentMessage, SentReads } from "../../store/delivery/ports.ts";
import type { Organizations } from "../../store/ports.ts";
import { refuseMissing } from "../directory/directory.ts";

type Dependencies = { sent: SentReads; organizations: Pick<Organizations, "get"> };

/** Creates what finds in the store what was sent. */
export function createSentEvents({ sent, organizations }: Dependencies) {
  const notFound = (org: string, message: string) =>
    refuseMissing(organizations, org, errorAbout("message_not_found", { message }));

  return {
    /** Throws `message_not_found`, also for messages of a deleted conversation. */
    async message(org: string, serverMid: string): Promise<SentMessage> {
      return (await sent.message(org, serverMid)) ?? (await notFound(org, serverMid));
    },
    /** Throws `message_not_found`, or `invalid_request` without `senderId` if several senders used that id. */
    async systemMessage(org: string, mid: string, senderId: string | undefined): Promise<SentEvent> {
      const [event, another] = await sent.systemMessages(org, mid, senderId);
      if (event === undefined) return await notFound(org, mid);
      if (another !== undefined) {
        const message = "several senders used this id; select one with `senderId`";
        throw invalidRequest("/senderId", "is required here", message);
      }
      return event;
    },
  };
}
