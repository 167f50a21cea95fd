/** A call of the admin API, by its method in TypeScript, and what it is in other languages. */
export type Action = {
  title: string;
  /** `GET` by default. */
  method?: "POST" | "PUT";
  /** The path, with the names of its parameters in braces. Methods take them in this order. */
  path: string;
  /** The command, with the same names. That of a call with a body follows from the body. */
  cli?: string;
  /** The method in Python, if it has another name. */
  python?: string;
  /** Of a list: what yields its items in Python and Go, and what one item is called. */
  each?: readonly [all: string, one: string];
  /** Whether it yields for ever, in TypeScript as well. */
  isFeed?: true;
  /** What Go calls its body, if that is not named like the method: without `Request`. */
  goRequest?: string;
  /** What Go takes after the names. */
  goOptions?: (senderId: string) => string;
};

const org = "/admin/organizations/{org}";

function read(title: string, path: string, cli: string, more: Partial<Action> = {}): Action {
  return { title, path, cli, ...more };
}

function list(title: string, path: string, cli: string, each: readonly [all: string, one: string], goOptions?: string) {
  return read(title, path, cli, { each, ...(goOptions !== undefined && { goOptions: () => goOptions }) });
}

/** What the pages of the console read and do. */
const known = {
  sendMessage: { title: "Send the message", method: "POST", path: "/admin/message" },
  sendSystemMessage: { title: "Send the system message", method: "POST", path: "/admin/message/system" },
  schedule: { title: "Schedule it", method: "PUT", path: `${org}/scheduled/{id}`, goRequest: "PutScheduled" },
  putUser: { title: "Create or change the user", method: "PUT", path: `${org}/users/{uid}` },
  putConversation: { title: "Create or change the conversation", method: "PUT", path: `${org}/conversations/{cid}` },
  putOrganization: { title: "Create or change the organization", method: "PUT", path: org },
  putWebhook: { title: "Create or change the webhook", method: "PUT", path: `${org}/webhooks/{wid}` },
  createKey: { title: "Create the key", method: "POST", path: "/admin/keys" },
  listNodes: read("Read the nodes", "/admin/nodes", "nodes", { python: "nodes" }),
  listOnline: list(
    "List who is online",
    `${org}/online`,
    "users online --org {org}",
    ["online", "user"],
    "herald.OnlineOptions{}",
  ),
  listScheduled: list(
    "List the scheduled sends",
    `${org}/scheduled`,
    "schedule list --org {org}",
    ["scheduled", "send"],
    '""',
  ),
  listProposals: list(
    "List the proposals",
    `${org}/proposals`,
    "proposals --org {org}",
    ["proposals", "proposal"],
    '""',
  ),
  listConversations: list("List the conversations", `${org}/conversations`, "conversations list --org {org}", [
    "conversations",
    "conversation",
  ]),
  listMessages: list(
    "Read the messages",
    `${org}/conversations/{cid}/messages`,
    "conversations messages {cid} --org {org}",
    ["messages", "message"],
    "herald.HistoryOptions{}",
  ),
  listParticipants: list(
    "List the participants",
    `${org}/conversations/{cid}/participants`,
    "participants list {cid} --org {org}",
    ["participants", "user"],
  ),
  getMessage: read(
    "Read the message and its delivery",
    `${org}/messages/{server_mid}`,
    "report message {server_mid} --org {org}",
  ),
  listRecipients: list(
    "List its recipients",
    `${org}/messages/{server_mid}/recipients`,
    "recipients message {server_mid} --org {org}",
    ["recipients", "recipient"],
    "herald.RecipientOptions{}",
  ),
  getSystemMessage: read(
    "Read the system message and its delivery",
    `${org}/system-messages/{mid}`,
    "report system {mid} --org {org}",
    { goOptions: (senderId) => JSON.stringify(senderId) },
  ),
  listSystemRecipients: read(
    "List its recipients",
    `${org}/system-messages/{mid}/recipients`,
    "recipients system {mid} --org {org}",
    {
      each: ["systemRecipients", "recipient"],
      goOptions: (senderId) =>
        senderId === ""
          ? "herald.RecipientOptions{}"
          : `herald.RecipientOptions{SenderID: ${JSON.stringify(senderId)}}`,
    },
  ),
  listUsers: list("List the users", `${org}/users`, "users list --org {org}", ["users", "user"]),
  getUser: read("Read the user", `${org}/users/{uid}`, "users get {uid} --org {org}"),
  listDeliveries: list(
    "List what was addressed to the user",
    `${org}/users/{uid}/deliveries`,
    "users deliveries {uid} --org {org}",
    ["deliveries", "delivery"],
    "herald.DeliveryOptions{}",
  ),
  listConnections: read(
    "List the user's connections",
    `${org}/users/{uid}/connections`,
    "users connections {uid} --org {org}",
    { python: "connections" },
  ),
  listInbox: list(
    "List the user's inbox",
    `${org}/users/{uid}/system-messages`,
    "inbox --org {org} --user {uid}",
    ["inbox", "item"],
    "herald.InboxOptions{}",
  ),
  listWebhooks: list("List the webhooks", `${org}/webhooks`, "webhooks list --org {org}", ["webhooks", "webhook"]),
  getWebhook: read("Read the webhook", `${org}/webhooks/{wid}`, "webhooks get {wid} --org {org}"),
  listWebhookDeliveries: list(
    "List its deliveries",
    `${org}/webhooks/{wid}/deliveries`,
    "webhooks deliveries {wid} --org {org}",
    ["webhookDeliveries", "delivery"],
    '""',
  ),
  listOrganizations: list("List the organizations", "/admin/organizations", "orgs list", [
    "organizations",
    "organization",
  ]),
  getOrganization: read("Read the organization, its limits and their use", org, "orgs get {org}"),
  listKeys: list("List the keys", "/admin/keys", "keys list", ["keys", "key"]),
  getKey: read("Read the key", "/admin/keys/{id}", "keys get {id}"),
  streamEvents: read("Watch what is delivered", `${org}/events`, "tail --org {org}", {
    ...{ each: ["events", "event"], isFeed: true, goOptions: () => "herald.FeedOptions{}" },
  }),
  listAudit: list("Read the audit log", "/admin/audit", "audit", ["audit", "entry"], "herald.AuditOptions{}"),
} satisfies Record<string, Action>;

/** The name of an action: that of its method in TypeScript. */
export type ActionName = keyof typeof known;

/** The actions by name. */
export const actions: Readonly<Record<ActionName, Action>> = known;

/** An action with all that it needs. */
export type Call = {
  action: ActionName;
  /** The values of the parameters of its path. */
  names: Readonly<Record<string, string>>;
  /** The sender of a system message, if its id alone does not identify it. */
  senderId?: string | undefined;
  body?: object | undefined;
};
