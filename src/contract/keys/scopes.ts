/** What each scope of an API key allows (api.md, section 5). */
export const scopes = {
  "message:send": "Send messages to conversations.",
  "message:propose": "Propose messages and system messages, which are sent once another key approves them.",
  "message:edit": "Edit messages and take them back.",
  "system:send": "Send system messages to users.",
  "directory:read": "Read organizations, users, conversations and participants.",
  "directory:write":
    "Create, change and delete organizations, users, conversations and participants; issue and revoke user tokens; sign users out.",
  "history:read": "Read sent messages and their files.",
  "files:write": "Upload and remove files.",
  "webhooks:manage":
    "Create, change, test and delete webhooks, which receive the content of messages, and see what was posted.",
  observe: "See who is online, and watch everything that is delivered and was delivered, including its content.",
  "keys:manage": "Create, list, rotate and revoke API keys that may do no more than the key itself.",
  "*": "Everything.",
} as const;

/** What an API key may do. */
export type Scope = keyof typeof scopes;

/** What keys or people may do, in a few words. */
export function nameScopes(names: readonly string[]): string {
  return names.includes("*") ? "everything" : names.join(", ");
}
