import type { TypingBus } from "../../bus/bus.ts";
import type { TellTypingRequest } from "../../contract/connections/typing.ts";
import { errorAbout } from "../../contract/errors/naming.ts";
import type { SuccessResponse } from "../../contract/messages/reads.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { PlaceReads } from "../../store/reads/ports.ts";
import { type Caller, permitOrganization, permitSender } from "../keys/permissions.ts";

type Dependencies = { standing: PlaceReads; bus: Pick<TypingBus, "tellTyping">; clock: Clock };

/** Creates what tells, for callers of the admin API, who is typing. */
export function createTypingCalls({ standing, bus, clock }: Dependencies) {
  return {
    /**
     * Tells all nodes that the sender is typing, or has stopped; it may be lost on the way. Throws the errors of `tellTyping` in the
     * contract.
     */
    async tell(
      caller: Caller,
      { organizationId: org, senderId: from, typing }: TellTypingRequest,
    ): Promise<SuccessResponse> {
      permitOrganization(caller, org);
      permitSender(caller, from);
      const { cid, status } = typing;
      const names = { organization: org, conversation: cid, sender: from };
      const place = await standing.place(org, cid, from);
      if (place === undefined) throw errorAbout("organization_not_found", names);
      if (!place.isConversation) throw errorAbout("conversation_not_found", names);
      if (!place.isParticipant) throw errorAbout("sender_not_participant", names);
      bus.tellTyping({ org, cid, from, status, t: Math.floor(clock.now() / 1000), after: place.head });
      return { success: true };
    },
  };
}

/** Tells who is typing. */
export type TypingCalls = ReturnType<typeof createTypingCalls>;
