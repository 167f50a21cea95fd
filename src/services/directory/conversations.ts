import type { Resource } from "../../contract/directory.ts";
import { HeraldError, invalidRequest } from "../../contract/errors/errors.ts";
import { errorAbout, quoted } from "../../contract/errors/naming.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { ConversationChange, Conversations, Organizations, Participants } from "../../store/ports.ts";
import { type Caller, proofOf } from "../keys/permissions.ts";
import type { LargeChanges } from "../limits/large-changes.ts";
import type { OrganizationUse } from "../limits/organization-use.ts";
import { type Page, type PageQuery, type PrefixQuery, pageOf, pageOfMatches, toResource } from "../pages.ts";
import { type PutResource, refuseMissing, requireOrganization, toPutResource } from "./directory.ts";

type Dependencies = {
  organizations: Organizations;
  conversations: Conversations;
  participants: Participants;
  /** Membership changes are stored events, too, and may be large. */
  use: Pick<OrganizationUse, "requireRoom">;
  largeChanges: LargeChanges;
  maxParticipants: number;
  clock: Clock;
};

/** Creates the directory of conversations and their participants. */
export function createConversationDirectory(dependencies: Dependencies) {
  const { organizations, conversations, participants, use, largeChanges, maxParticipants, clock } = dependencies;

  async function requireConversation(org: string, cid: string): Promise<Resource> {
    const conversation = await conversations.get(org, cid);
    if (conversation !== undefined) return toResource(conversation);
    return await refuseMissing(organizations, org, errorAbout("conversation_not_found", { conversation: cid }));
  }

  function requireDone(
    change: ConversationChange,
    { org, cid, uid }: { org: string; cid: string; uid: string },
  ): PutResource {
    if (change.outcome === "done") return toPutResource(change.put, org);
    if (change.outcome === "too_many")
      throw invalidRequest("", `a conversation may have at most ${maxParticipants} participants`);
    switch (change.missing) {
      case "organization":
        throw errorAbout("organization_not_found", { organization: org });
      case "conversation":
        throw errorAbout("conversation_not_found", { conversation: cid });
      case "participant":
        throw new HeraldError(
          "user_not_found",
          `the user ${quoted(uid)} is not a participant of the conversation ${quoted(cid)}`,
        );
    }
  }

  return {
    /** Creates or updates a conversation; omitted fields stay as they are. */
    async put(
      caller: Caller,
      org: string,
      cid: string,
      change: { name?: string | null | undefined; participants?: string[] | undefined },
    ): Promise<PutResource> {
      if (change.participants !== undefined) use.requireRoom(org);
      const put = () => {
        const now = clock.now();
        return conversations.put(org, cid, change, now, proofOf(caller, now));
      };
      return toPutResource(await largeChanges.run(org, change.participants?.length ?? 0, put), org);
    },
    get: requireConversation,
    async remove(org: string, cid: string): Promise<void> {
      if (!(await conversations.remove(org, cid, clock.now()))) await requireConversation(org, cid);
    },
    async list(org: string, query: PrefixQuery): Promise<Page<Resource>> {
      await requireOrganization(organizations, org);
      return await pageOfMatches(query, org, conversations, toResource);
    },
    /** Adds a participant, creating the user if necessary. */
    async addParticipant(caller: Caller, org: string, cid: string, uid: string): Promise<PutResource> {
      use.requireRoom(org);
      const now = clock.now();
      const added = await participants.add(org, cid, uid, maxParticipants, now, proofOf(caller, now));
      return requireDone(added, { org, cid, uid });
    },
    async removeParticipant(org: string, cid: string, uid: string): Promise<void> {
      requireDone(await participants.remove(org, cid, uid, clock.now()), { org, cid, uid });
    },
    async listParticipants(org: string, cid: string, query: PageQuery): Promise<Page<Resource>> {
      await requireConversation(org, cid);
      return await pageOf(query, (page) => participants.list(org, cid, page), toResource);
    },
  };
}

/** The directory of conversations and their participants. */
export type ConversationDirectory = ReturnType<typeof createConversationDirectory>;
