import type { ScheduledSend } from "../../../../sdk/admin.ts";

/** What is or was sent, in one line. */
export function describeRequest({
  request,
  server_mid,
  problem,
}: Pick<ScheduledSend, "request" | "server_mid" | "problem">): string {
  if (problem !== null) return problem.code;
  if (request === null) return server_mid ?? "";
  if ("message" in request) {
    const { cid, body = "", attachments = [] } = request.message;
    const content = body === "" ? `${attachments.length} attachments` : body;
    return `${request.senderId} to ${cid}: ${content}`;
  }
  const { uids, cid } = request.messageSystem;
  return `${request.senderId} to ${uids === undefined ? (cid ?? "everyone") : `${uids.length} users`}`;
}
