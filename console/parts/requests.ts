import type { ScheduledSend } from "../../sdk/types.ts";

/** The body of a send that waits. */
export type WaitingRequest = NonNullable<ScheduledSend["request"]>;

/** To whom a send goes, in a few words. */
export function addresseeOf(request: WaitingRequest): string {
  if ("message" in request) return request.message.cid;
  const { uids, cid, everyone } = request.messageSystem;
  if (everyone === true) return "everyone";
  if (uids === undefined) return `everyone in ${cid}`;
  return uids.length > 3 ? `${uids.slice(0, 3).join(", ")} and ${uids.length - 3} more` : uids.join(", ");
}

/** What a send says, with at most `most` characters. */
export function textOf(request: WaitingRequest, most = 400): string {
  if ("messageSystem" in request) return JSON.stringify(request.messageSystem.x ?? {}).slice(0, most);
  const { body = "", attachments = [] } = request.message;
  return body === "" ? attachments.map(({ name }) => name).join(", ") : body.slice(0, most);
}
