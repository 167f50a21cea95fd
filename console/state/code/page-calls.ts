import type { Route } from "../route.ts";
import { type ActionName, actions, type Call } from "./actions.ts";
import { namesIn } from "./names.ts";

const ofLists: Readonly<Record<string, readonly ActionName[]>> = {
  overview: ["listNodes", "listOnline"],
  scheduled: ["listScheduled"],
  proposals: ["listProposals"],
  live: ["streamEvents"],
  conversations: ["listConversations"],
  users: ["listUsers", "listOnline"],
  webhooks: ["listWebhooks"],
  organizations: ["listOrganizations"],
  keys: ["listKeys"],
  audit: ["listAudit"],
};

/** By page: the name of its id in paths, and its calls. */
const ofItems: Readonly<Record<string, readonly [name: string, called: readonly ActionName[]]>> = {
  conversations: ["cid", ["listMessages", "listParticipants"]],
  messages: ["server_mid", ["getMessage", "listRecipients"]],
  "system-messages": ["mid", ["getSystemMessage", "listSystemRecipients"]],
  users: ["uid", ["getUser", "listDeliveries", "listConnections", "listInbox"]],
  webhooks: ["wid", ["getWebhook", "listWebhookDeliveries"]],
  organizations: ["org", ["getOrganization"]],
  keys: ["id", ["getKey"]],
};

/** The calls that read what a page shows: none, if it shows nothing that one call reads, or as long as there is no organization. */
export function callsOf({ page, id, query }: Route, org: string | undefined): Call[] {
  const [name = "", called = []] = id === undefined ? ["", ofLists[page]] : (ofItems[page] ?? []);
  const names: Record<string, string> = { ...(org !== undefined && { org }), ...(id !== undefined && { [name]: id }) };
  const senderId = page === "system-messages" ? query.from : undefined;
  const isComplete = (action: ActionName) => namesIn(actions[action].path).every((one) => names[one] !== undefined);
  return called.filter(isComplete).map((action) => ({ action, names, ...(senderId !== undefined && { senderId }) }));
}
