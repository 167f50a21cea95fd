import type { AdminClient } from "../../../sdk/admin/admin.ts";
import type { DryRunAnswer, MessageEnvelope, ScheduledSend, SystemMessageEnvelope } from "../../../sdk/types.ts";
import type { Call } from "../code/actions.ts";
import type { Kind } from "./draft.ts";

/** A complete send. `sendAt` is its time in ISO 8601; `undefined` for now. */
export type Submission = {
  org: string;
  kind: Kind;
  id: string;
  sendAt: string | undefined;
  request: MessageEnvelope | SystemMessageEnvelope;
};

/** The result of a dry run. */
export type DryRun = DryRunAnswer["dry_run"];

/** An accepted send. `server_mid` is present for messages. */
export type Sent = {
  kind: Kind;
  senderId: string;
  answer: { mid: string; server_mid?: string; t: number };
  sentAt: string;
};

/** What the server has accepted: a send, or one that waits for its time. */
export type Accepted = { sent: Sent } | { scheduled: ScheduledSend };

const paths = { message: "/admin/message", system_message: "/admin/message/system" } as const;
const safe = { isSafe: true }; // because of the id

/** A send as a call of the API. */
export function callOf({ org, kind, id, sendAt, ...submission }: Submission): Call {
  const request = withoutEmpty(submission.request);
  if (sendAt !== undefined) return { action: "schedule", names: { org, id }, body: { send_at: sendAt, request } };
  return { action: kind === "message" ? "sendMessage" : "sendSystemMessage", names: {}, body: request };
}

/** The request without the members whose absence means the same. */
function withoutEmpty(request: Submission["request"]): Submission["request"] {
  const isEmpty = (value: unknown) => typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return JSON.parse(JSON.stringify(request, (_, value: unknown) => (isEmpty(value) ? undefined : value)));
}

/** Checks a send without storing anything. */
export async function tryOut(client: AdminClient, { org, kind, id, sendAt, request }: Submission): Promise<DryRun> {
  if (sendAt !== undefined) return (await client.trySchedule(org, id, { send_at: sendAt, request })).dry_run;
  return (await client.request<DryRunAnswer>("POST", `${paths[kind]}?dry_run=true`, request, safe)).dry_run;
}

/** Sends now, or schedules. The same submission again sends nothing twice. */
export async function submit(client: AdminClient, submission: Submission): Promise<Accepted> {
  const { org, kind, id, sendAt, request } = submission;
  if (sendAt !== undefined) return { scheduled: await client.schedule(org, id, { send_at: sendAt, request }) };
  type Answer = { ask?: Sent["answer"]; ack?: Sent["answer"] };
  const { ask, ack } = await client.request<Answer>("POST", paths[kind], request, safe);
  const answer = ask ?? ack;
  if (answer === undefined) throw new Error("The response did not come from Herald. Check the address.");
  return { sent: { kind, senderId: request.senderId, answer, sentAt: new Date().toISOString() } };
}
