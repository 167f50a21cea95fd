import { unavailable } from "../../contract/errors/errors.ts";
import { errorAbout } from "../../contract/errors/naming.ts";
import type { ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import { beginTexts } from "../../lib/text/begun-texts.ts";
import type { Clock, SteadyClock } from "../../lib/time/clock.ts";
import type { InboxReads } from "../../store/inbox/ports.ts";
import type { LogReader, OrganizationReads, UserReads } from "../../store/ports.ts";
import type { ExportReads, InboxExportReads, ReactionExportReads } from "../../store/transfer/ports.ts";
import { requireOrganization } from "../directory/directory.ts";
import { type Caller, permitScope } from "../keys/permissions.ts";
import { requestCosts, threadCosts } from "../limits/costs.ts";
import { organizationPages, userPages } from "./export-pages.ts";
import type { LinePages } from "./line-pages.ts";
import type { TransferSlots } from "./transfer-slots.ts";
import { createWorkCharges, type WorkingCall } from "./work-charges.ts";

/** What to export: an organization, or what is stored of a user. */
type ExportWish = { caller: Caller; org: string; uid?: string };

/** Exports organizations and users. */
export type Exports = ReturnType<typeof createExports>;

type Dependencies = {
  exports: ExportReads & InboxExportReads & ReactionExportReads;
  inboxes: Pick<InboxReads, "marks">;
  log: Pick<LogReader, "heads">;
  organizations: Pick<OrganizationReads, "get">;
  users: Pick<UserReads, "get">;
  slots: TransferSlots;
  thread: ThreadScheduler;
  clock: Clock;
  elapsed: SteadyClock;
};

/** Creates exports from the store. */
export function createExports(dependencies: Dependencies) {
  const { exports, inboxes, log, organizations, users, slots, thread, clock, elapsed } = dependencies;
  let isStopping = false;

  async function pagesOf({ org, uid }: ExportWish): Promise<LinePages> {
    await requireOrganization(organizations, org);
    const of = { org, head: (await log.heads([org])).get(org)?.offset ?? 0, now: clock.now() };
    if (uid === undefined) return organizationPages(exports, of);
    const user = await users.get(org, uid);
    if (user === undefined) throw errorAbout("user_not_found", { user: uid });
    const exported = { id: uid, name: user.name, isBlocked: user.isBlocked === true };
    return userPages(exports, of, exported, await inboxes.marks(org, uid));
  }

  async function* write(
    pages: LinePages,
    { org }: ExportWish,
    call: WorkingCall,
    release: () => void,
  ): AsyncGenerator<string, void> {
    const { charge, permit } = createWorkCharges(call, elapsed);
    try {
      yield ""; // see `beginTexts`
      for await (const lines of pages) {
        if (isStopping) throw unavailable({ detail: "this node is shutting down; export again" });
        if (lines.length === 0) continue;
        const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
        await thread.turn(org, threadCosts.bytes(text.length));
        await charge(requestCosts.lines(lines.length, text.length));
        await permit();
        yield text;
      }
    } finally {
      release();
    }
  }

  return {
    /**
     * Reads page by page as the texts are taken, each of them whole lines. Throws `organization_not_found`,
     * `user_not_found`, and `rate_limited` if too many exports are running.
     */
    async open(wish: ExportWish, call: WorkingCall): Promise<AsyncGenerator<string, void>> {
      const pages = await pagesOf(wish);
      permitScope(wish.caller, "directory:read"); // as well as the scope of the operation
      return beginTexts(write(pages, wish, call, slots.take(wish.org)));
    },
    /** Breaks off all exports. */
    stop(): void {
      isStopping = true;
    },
  };
}
