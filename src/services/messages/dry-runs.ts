import type { DryRunResponse } from "../../contract/delivery.ts";
import { unavailable } from "../../contract/errors/errors.ts";
import { addressOf } from "../../contract/log/log-event.ts";
import type {
  EditMessageRequest,
  RecallMessagesRequest,
  RecallSystemMessagesRequest,
} from "../../contract/messages/changes.ts";
import type { SendMessageRequest, SendSystemMessageRequest } from "../../contract/messages/messages.ts";
import type { UpdateReactionsRequest } from "../../contract/messages/reactions.ts";
import type { MarkReadRequest } from "../../contract/messages/reads.ts";
import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import { createLimiter } from "../../lib/queues/limiter.ts";
import type { Clock, SteadyClock } from "../../lib/time/clock.ts";
import type { SentReads } from "../../store/delivery/ports.ts";
import type {
  ChangeCheck,
  Hidings,
  MessageChanges,
  NewEdit,
  NewRecall,
  Reactions,
  SystemRecalls,
} from "../../store/messages/ports.ts";
import type { BatchLog, NewSend, ParticipantReads } from "../../store/ports.ts";
import type { ReadMarkReads } from "../../store/reads/ports.ts";
import type { Caller } from "../keys/permissions.ts";
import type { OrganizationUse } from "../limits/organization-use.ts";
import type { Presence } from "../presence.ts";
import {
  requireChange,
  requireReaction,
  requireSystemRecall,
  toEdit,
  toReaction,
  toRecall,
  toSystemRecall,
} from "./changes.ts";
import { requireStored, type Sent, toMessageSend, toSystemSend } from "./messages.ts";
import { requireScope, toReadCall } from "./reads.ts";

/**
 * Checks sends and reads without storing them, and counts whom they would reach. Throws what the sends would throw, and
 * `unavailable` if a node does not answer.
 */
export type DryRuns = ReturnType<typeof createDryRuns>;

type Dependencies = {
  checks: Pick<BatchLog, "check">;
  changes: Pick<MessageChanges, "checkEdit" | "checkRecall">;
  systemRecalls: Pick<SystemRecalls, "check">;
  hidings: Pick<Hidings, "check">;
  reactions: Pick<Reactions, "check">;
  use: Pick<OrganizationUse, "requireRoomFor" | "requireRoom">;
  sent: Pick<SentReads, "strangersAmong" | "countUsersAt">;
  participants: Pick<ParticipantReads, "list">;
  readMarks: ReadMarkReads;
  presence: Pick<Presence, "count">;
  clock: Clock;
  elapsed: SteadyClock;
};

/** The number of users per question to the nodes, as messages between nodes are limited in size. */
const usersAtOnce = 1_000;
// A thousand recipients are a millisecond of work, after which others get their turn.
const large = { places: 1, maxWaiting: 1_000, maxWeight: 1_000_000, maxWaitMs: 10_000 };

/**
 * Creates dry runs, which follow the rules of the log but store nothing and use no id. A node runs one at a time of
 * those for more than a thousand recipients, a thousand recipients per turn of the event loop; organizations take
 * turns.
 */
export function createDryRuns(dependencies: Dependencies) {
  const { checks, changes, systemRecalls, hidings, reactions, use, sent, participants, readMarks } = dependencies;
  const { presence, clock, elapsed } = dependencies;
  const limiter = createLimiter({ ...large, whenBusy, clock: elapsed });

  async function inTurn<Result>(org: string, recipients: number, work: () => Promise<Result>): Promise<Result> {
    return recipients > usersAtOnce ? await limiter.run(work, { key: org, weight: recipients }) : await work();
  }

  async function countOnline(org: string, pages: AsyncIterable<string[]>): Promise<number> {
    let online = 0;
    for await (const uids of pages) {
      if (uids.length > 0) online += (await presence.count(org, uids)).count;
      await nextTurn();
    }
    return online;
  }

  /** Whom something said to a conversation would reach. */
  async function inConversation(
    org: string,
    cid: string,
    { participants: recipients, isReplay }: { participants: number; isReplay: boolean },
  ): Promise<Sent<DryRunResponse>> {
    const online = await inTurn(org, recipients, () => countOnline(org, participantsOf(org, cid)));
    return { body: reach(recipients, online), isReplay };
  }

  async function inConversationOf(
    change: NewEdit | NewRecall,
    { outcome, participants: count }: ChangeCheck,
  ): Promise<Sent<DryRunResponse>> {
    const isReplay = !requireChange(outcome, change);
    const cid = outcome.outcome === "refused" ? "" : outcome.cid;
    return await inConversation(change.org, cid, { participants: count, isReplay });
  }

  async function* participantsOf(org: string, cid: string): AsyncGenerator<string[], void> {
    for (let after: string | undefined; ; ) {
      const page = await participants.list(org, cid, { after, limit: usersAtOnce });
      yield page.map(({ id }) => id);
      if (page.length < usersAtOnce) return;
      after = page.at(-1)?.id;
    }
  }

  async function reachOfUsers(org: string, uids: string[]): Promise<DryRunResponse> {
    const strangers = await sent.strangersAmong(org, uids);
    return reach(uids.length, await countOnline(org, pagesOf(uids)), strangers);
  }

  /** Counts as large, as all users are read to count them. */
  async function reachOfEveryone(org: string): Promise<DryRunResponse> {
    return await inTurn(org, usersAtOnce + 1, async () => {
      const recipients = await sent.countUsersAt(org, Number.MAX_SAFE_INTEGER);
      return reach(recipients, (await presence.count(org, undefined)).count);
    });
  }

  return {
    async message(caller: Caller, request: SendMessageRequest): Promise<Sent<DryRunResponse>> {
      const send = toMessageSend(caller, request, clock.now());
      return await inConversation(send.org, request.message.cid, await requireFit({ checks, use }, send));
    },
    async edit(caller: Caller, request: EditMessageRequest): Promise<Sent<DryRunResponse>> {
      const edit = toEdit(caller, request, clock.now());
      use.requireRoom(edit.org);
      return await inConversationOf(edit, await changes.checkEdit(edit));
    },
    async react(caller: Caller, request: UpdateReactionsRequest): Promise<Sent<DryRunResponse>> {
      const reaction = toReaction(caller, request, clock.now());
      use.requireRoom(reaction.org);
      const { outcome, participants: count } = await reactions.check(reaction);
      const isReplay = !requireReaction(outcome, reaction);
      const cid = outcome.outcome === "refused" ? "" : outcome.cid;
      return await inConversation(reaction.org, cid, { participants: count, isReplay });
    },
    async recall(caller: Caller, request: RecallMessagesRequest): Promise<Sent<DryRunResponse>> {
      const recall = toRecall(caller, request, clock.now());
      if (request.messageDelete.type === "myself") {
        const isReplay = !requireChange(await hidings.check(recall), recall);
        return { body: await reachOfUsers(recall.org, [recall.sender]), isReplay };
      }
      return await inConversationOf(recall, await changes.checkRecall(recall));
    },
    /** The recipients are whom the system messages were addressed to, each once. */
    async recallSystem(caller: Caller, request: RecallSystemMessagesRequest): Promise<Sent<DryRunResponse>> {
      const recall = toSystemRecall(caller, request, clock.now());
      const { org } = recall;
      const { audiences } = requireSystemRecall(await systemRecalls.check(recall), recall);
      if (audiences.some(({ address }) => address === "everyone"))
        return { body: await reachOfEveryone(org), isReplay: false };
      return await inTurn(org, usersAtOnce + 1, async () => {
        const uids = new Set<string>();
        for (const audience of audiences) {
          if (audience.address === "users") for (const uid of audience.uids) uids.add(uid);
          if (audience.address !== "conversation") continue;
          for await (const page of participantsOf(org, audience.cid)) for (const uid of page) uids.add(uid);
        }
        return { body: await reachOfUsers(org, [...uids]), isReplay: false };
      });
    },
    async systemMessage(caller: Caller, request: SendSystemMessageRequest): Promise<Sent<DryRunResponse>> {
      return await inTurn(request.organizationId, request.messageSystem.uids?.length ?? 0, async () => {
        const send = await toSystemSend(caller, request, clock.now());
        const fit = await requireFit({ checks, use }, send);
        const { isReplay } = fit;
        switch (addressOf(send)) {
          case "users":
            return { body: await reachOfUsers(send.org, send.uids), isReplay };
          case "conversation":
            return await inConversation(send.org, send.cid ?? "", fit);
          case "everyone":
            return { body: await reachOfEveryone(send.org), isReplay };
        }
      });
    },
    /** The recipients are the authors of what would be newly read. */
    async read(caller: Caller, request: MarkReadRequest): Promise<Sent<DryRunResponse>> {
      const call = toReadCall(caller, request);
      const { unread } = requireScope(await readMarks.scopeOf(call), call);
      if (unread.length > 0) use.requireRoom(call.org);
      const senders = new Set(unread.map(({ sender }) => sender));
      const authors = await readMarks.participantsAmong(call.org, call.cid, [...senders]);
      return { body: reach(authors.length, await countOnline(call.org, pagesOf(authors))), isReplay: false };
    },
  };
}

/** Throws what the send would throw if it were appended now. */
export async function requireFit(
  { checks, use }: { checks: Dependencies["checks"]; use: Pick<OrganizationUse, "requireRoomFor"> },
  send: NewSend,
): Promise<{ participants: number; isReplay: boolean }> {
  await use.requireRoomFor(send);
  // Omits the payload and the users, which decide nothing and would have to be copied to another thread.
  const { verdict, participants } = await checks.check({ ...send, payload: "", uids: undefined });
  return { participants, isReplay: verdict !== undefined && requireStored(verdict, send).outcome === "replayed" };
}

function reach(recipients: number, online: number, unknown_users: string[] = []): DryRunResponse {
  return { dry_run: { recipients, online, unknown_users } };
}

function whenBusy(): Error {
  return unavailable({ detail: "too many large dry runs are waiting on this node; try again", retryAfterSeconds: 5 });
}

async function* pagesOf(uids: string[]): AsyncGenerator<string[], void> {
  for (let start = 0; start < uids.length; start += usersAtOnce) yield uids.slice(start, start + usersAtOnce);
}
