import { type ProblemForm, problemDocument } from "../../contract/errors/problem.ts";
import { toIso } from "../../contract/identifiers.ts";
import type { MessageUndeliverable, ScheduledFailed } from "../../contract/webhooks/notices.ts";
import type { WebhookPayload } from "../../contract/webhooks/payloads.ts";
import type { FailedSend } from "../../store/schedule/ports.ts";
import type { StoredNotice, StoredWebhook, TriedDelivery, WebhookDelivery } from "../../store/webhooks/ports.ts";
import { errorOfFailure } from "../schedule/scheduled-requests.ts";

// So that it fits into one post.
const mostProblemCharacters = 4_000;

/** The body of a post about what is not in the log; `undefined` if the delivery tells of something else. */
export function noticePayloadOf(
  { notice, org, createdAt }: Pick<WebhookDelivery, "notice" | "org" | "createdAt">,
  form?: ProblemForm,
): string | undefined {
  if (notice === undefined) return undefined;
  const data = { organizationId: org, ...dataOf(notice, form) };
  return JSON.stringify({ type: notice.type, timestamp: toIso(createdAt), data });
}

/**
 * What other webhooks are told of a delivery that has failed, which was posted with this body; nothing of one that told of a failure
 * itself.
 */
export function undeliverableOf(
  { id: delivery, tries, lastTry }: TriedDelivery,
  { id: webhook }: Pick<StoredWebhook, "id">,
  body: string,
): MessageUndeliverable | undefined {
  const { type, data }: WebhookPayload = JSON.parse(body);
  if (type === "message.undeliverable") return undefined;
  const { status = null, error } = lastTry ?? {};
  return { undeliverable: { webhook, delivery, type, id: idIn(data), tries, status, error: error ?? "" } };
}

function dataOf({ type, data }: StoredNotice, form: ProblemForm | undefined): object {
  return type === "scheduled.failed" ? describeFailed(data as FailedSend, form) : data;
}

/** A scheduled send that failed, with the problem that the admin API shows. */
function describeFailed({ id, sendAt, tryId, failure }: FailedSend, form?: ProblemForm): ScheduledFailed {
  const problem = problemDocument(errorOfFailure(failure), tryId, form);
  const isLong = JSON.stringify(problem).length > mostProblemCharacters;
  return { scheduled: { id, send_at: toIso(sendAt), problem: isLong ? { ...problem, errors: [] } : problem } };
}

function idIn(data: WebhookPayload["data"]): string | null {
  if ("message" in data) return data.message._id;
  if ("system_message" in data) return data.system_message._id;
  if ("scheduled" in data) return data.scheduled.id;
  return "proposal" in data ? data.proposal.id : null;
}
