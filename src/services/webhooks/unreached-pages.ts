import type { Unreached, UnreachedUntil } from "../../contract/webhooks/payloads.ts";
import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import type { RecipientReads } from "../../store/delivery/ports.ts";
import type { ReportedEvent, UnreachedReads } from "../../store/webhooks/ports.ts";
import { readFirstDeliveries } from "../delivery/first-deliveries.ts";

/** Pages through the users whom an event to a conversation or to everyone did not reach. */
export type UnreachedPages = {
  /**
   * Reads who has the event by now. The function that it returns pages through those who do not, in order of uid and after a given
   * user; pages may be empty.
   */
  open(event: ReportedEvent, until: UnreachedUntil): Promise<(after: string) => AsyncIterable<Unreached[]>>;
};

type Dependencies = {
  unreached: Pick<UnreachedReads, "recipientsOf">;
  recipients: Pick<RecipientReads, "deliveryIds" | "deliveries" | "acknowledgedAt">;
};

const usersAtOnce = 500;

/** Creates the pages, which agree with `Reports`. */
export function createUnreachedPages({ unreached, recipients }: Dependencies): UnreachedPages {
  return {
    async open(event, until) {
      const { org, id, kind } = event;
      const times = await readFirstDeliveries(recipients, org, event);

      async function unreachedAmong(uids: string[]): Promise<Unreached[]> {
        const delivered = await times.find(uids);
        // A receipt proves the delivery of a message, but not that of a system message.
        const mayMatter = (uid: string) => (delivered.has(uid) ? until === "acknowledged" : kind === "message");
        const asked = uids.filter(mayMatter);
        const acknowledged = asked.length === 0 ? undefined : await recipients.acknowledgedAt({ org, id }, asked);
        return uids.flatMap((uid): Unreached[] => {
          if (acknowledged?.has(uid)) return [];
          if (!delivered.has(uid)) return [{ uid, reason: "offline" }];
          return until === "delivered" ? [] : [{ uid, reason: "unacknowledged" }];
        });
      }

      return async function* pages(after) {
        for (let place = after; ; ) {
          const page = await unreached.recipientsOf(event, { after: place, limit: usersAtOnce });
          yield await unreachedAmong(page.flatMap(({ uid, isRecipient }) => (isRecipient ? [uid] : [])));
          const last = page.at(-1);
          if (last === undefined || page.length < usersAtOnce) return;
          place = last.uid;
          await nextTurn();
        }
      };
    },
  };
}
