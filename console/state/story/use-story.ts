import { useEffect, useRef, useState } from "preact/hooks";
import type { Scope } from "../../../src/contract/keys/scopes.ts";
import { useConsole, useOrganization } from "../context.ts";
import type { Report, SentId } from "../delivery.ts";
import { useLoading } from "../loading.ts";
import { type About, lookInAudit, lookInLog, lookInWebhooks, readRecipients } from "./sources.ts";
import type { Step } from "./step.ts";
import { toTimeline } from "./timeline.ts";
import { type Look, useLook } from "./use-look.ts";

/** A part of a story that comes from a source of its own, which the key may not be allowed to read. */
export type Part = { source: string; shows: string; scope: Scope; look: Look<unknown>; isAllowed: boolean };

/** What is known of a message so far. */
export type Story = {
  steps: Step[];
  parts: Part[];
  /** Whether it is known who has it: most of the story. Looks through long logs add what they find when they find it. */
  hasBegun: boolean;
  isLoading: boolean;
  error: unknown;
  reload(): void;
};

/** Puts together what happened to a message, from its report, the log, the audit log and the webhooks, as far as the key may read them. */
export function useStory(sent: SentId, report: Report): Story {
  const { client, can, readLog } = useConsole();
  const org = useOrganization();
  const about = aboutOf(org, sent, report);
  const inputs = [org, sent.kind, sent.id, about.from];
  const mayObserve = can("observe");
  const maySeeWebhooks = can("webhooks:manage");
  const recipients = useLoading(
    async () => (report.isListed ? await readRecipients(client, about) : undefined),
    inputs,
  );
  const [hasBegun, setHasBegun] = useState(false);
  useEffect(() => {
    if (!recipients.isLoading) setHasBegun(true);
  }, [recipients.isLoading]);
  // Looks read megabytes, so they begin once it is shown who has the message.
  const log = useLook((from) => lookInLog(readLog, about, from), inputs, hasBegun && mayObserve);
  const audit = useLook((from) => lookInAudit(client, about, from), inputs, hasBegun && mayObserve);
  const posted = useLook((from) => lookInWebhooks(client, about, from), inputs, hasBegun && maySeeWebhooks);

  // As the report is followed, the list is read again. It was just read for the first one.
  const turn = `${report.delivered_users} ${report.acknowledged_users}`;
  const readFor = useRef(turn);
  useEffect(() => {
    if (readFor.current !== turn) recipients.reload();
    readFor.current = turn;
  }, [turn]);

  const steps = toTimeline({
    id: sent.id,
    report: factsOf(report, about),
    recipients: recipients.value,
    log: log.value ?? [],
    audit: audit.value ?? [],
    posted: posted.value ?? [],
  });
  const looks = [log, audit, posted];
  const isLoading = recipients.isLoading || looks.some(({ isLoading }) => isLoading);
  return {
    steps,
    parts: [
      {
        source: "the log",
        shows: "reads, reactions and each edit",
        scope: "observe",
        look: log,
        isAllowed: mayObserve,
      },
      { source: "the audit log", shows: "calls that name it", scope: "observe", look: audit, isAllowed: mayObserve },
      {
        source: "the deliveries of webhooks",
        shows: "deliveries of webhooks",
        scope: "webhooks:manage",
        look: posted,
        isAllowed: maySeeWebhooks,
      },
    ],
    hasBegun,
    isLoading,
    error: recipients.error,
    reload() {
      recipients.reload();
      for (const look of looks) look.reload();
    },
  };
}

function aboutOf(org: string, sent: SentId, { said }: Report): About {
  const sentAt = said.created_at ?? new Date(said.t * 1_000).toISOString();
  return { org, sent, from: said.from, cid: said.cid, sentAt };
}

function factsOf(report: Report, { from, sentAt }: About) {
  return {
    sentAt,
    from,
    keyId: report.key_id,
    editedAt: "edited_at" in report.said ? report.said.edited_at : undefined,
    recalledAt: report.recalled_at,
    expiredAt: report.expired_at,
    deliveredUsers: report.delivered_users,
    firstDeliveredAt: report.first_delivered_at,
    lastDeliveredAt: report.last_delivered_at,
  };
}
