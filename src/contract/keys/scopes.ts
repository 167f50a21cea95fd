/** What each scope of an API key allows (api.md, section 5). */
export const scopes = {
  "message:send": "Send messages into conversations.",
  "system:send": "Send system messages to users.",
  "directory:read": "Read organizations, users, conversations and participants.",
  "directory:write": "Change them, issue and revoke user tokens, sign users out.",
  "history:read": "Read messages that were sent.",
  observe: "See who is online, and watch everything that is delivered, with its content.",
  "keys:manage": "Make, list, rotate and revoke API keys that may do no more than the key itself.",
  "*": "Everything.",
} as const;

/** What an API key may do. */
export type Scope = keyof typeof scopes;
