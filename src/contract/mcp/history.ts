import type { Reach } from "../keys/reach.ts";
import { hasScope } from "../keys/reach.ts";
import type { ToolCall } from "./calls.ts";

/** The resources that there are: the history of each conversation, newest first. */
export const historyTemplate = {
  uriTemplate: "herald://organizations/{org}/conversations/{cid}/messages",
  name: "messages",
  title: "History of a conversation",
  description: "The newest 50 messages of a conversation, newest first. For older ones, use the tool `listMessages`.",
  mimeType: "application/json",
} as const;

const uri = /^herald:\/\/organizations\/([^/?#]+)\/conversations\/([^/?#]+)\/messages$/;
const pageOfHistory = 50;

/** Whether a key may read histories. */
export function mayReadHistory({ scopes }: Reach): boolean {
  return hasScope(scopes, "history:read");
}

/** The request for the history that a URI names; `undefined` if it names none. */
export function historyCallOf(named: string): ToolCall | undefined {
  const [, org, cid] = uri.exec(named) ?? [];
  if (org === undefined || cid === undefined || !isSegment(org) || !isSegment(cid)) return undefined;
  const target = `/admin/organizations/${org}/conversations/${cid}/messages?limit=${pageOfHistory}`;
  return { method: "GET", target };
}

/** Whether a text is a segment of a path as it stands: percent-encoded UTF-8, and neither `.` nor `..`. */
function isSegment(text: string): boolean {
  try {
    return !/^\.{1,2}$/.test(decodeURIComponent(text)) && /^[\w.~!$&'()*+,;=:@%-]+$/.test(text);
  } catch {
    return false;
  }
}
