const sendSystem = "send with `POST /admin/message/system` from your backend";
const users = "your backend creates users with `PUT /admin/organizations/{org}/users/{uid}`";
const passwords = "Herald keeps no passwords: your backend signs users in";
const conversations = "your backend manages conversations with `PUT /admin/organizations/{org}/conversations/{cid}`";
const blocks = "your backend blocks a user with `PUT /admin/organizations/{org}/users/{uid}` and `blocked`";
const online = "use `user_last_activity_subscribe`, or `GET /admin/organizations/{org}/online` from your backend";
const nothing = (what: string) => `Herald has no ${what}`;
const contacts = nothing("contacts");
const handlers = nothing("programs that run on messages");
const summaries = nothing("assistant");
const push = nothing("push subscriptions");
const keys = nothing("keys of devices");

/** The requests of SAMA clients that Herald answers with `not_supported`, and what does the same. */
export const unsupportedRequests: Readonly<Record<string, string>> = {
  user_create: users,
  user_edit: users,
  user_delete: "your backend deletes users with `DELETE /admin/organizations/{org}/users/{uid}`",
  user_login:
    "your backend issues a user token with `POST /admin/organizations/{org}/users/{uid}/tokens`; pass it to `connect`",
  user_send_otp: passwords,
  user_reset_password: passwords,
  user_search: "your backend finds users with `GET /admin/organizations/{org}/users`",
  online_list: online,
  message_edit: "your backend edits with `PUT /admin/message`",
  message_delete: "your backend takes messages back with `DELETE /admin/message`",
  message_reactions_update: "your backend reacts with `PUT /admin/message/reaction`",
  message_summary: summaries,
  message_tone: summaries,
  message_decryption_failed: keys,
  system_message: sendSystem,
  conversation_create: conversations,
  conversation_update: conversations,
  conversation_delete:
    "your backend deletes it with `DELETE /admin/organizations/{org}/conversations/{cid}`, or removes a participant below it",
  conversation_search: "use `conversation_list`",
  conversation_subscribe: conversations,
  conversation_unsubscribe: conversations,
  conversation_handler_create: handlers,
  get_conversation_handler: handlers,
  conversation_handler_delete: handlers,
  get_admins_by_cids: "use `get_participants_by_cids`: all participants have the same rights",
  create_files: "your backend uploads files with `POST /admin/organizations/{org}/files`",
  block_user: blocks,
  unblock_user: blocks,
  list_blocked_users: blocks,
  block_list_enable: blocks,
  contact_add: contacts,
  contact_batch_add: contacts,
  contact_update: contacts,
  contact_delete: contacts,
  contact_list: contacts,
  op_log_list: "connect with `since`, which brings what was missed",
  push_subscription_create: push,
  push_subscription_list: push,
  push_subscription_delete: push,
  push_event_create: push,
  device_register: keys,
  device_list: keys,
  device_delete: keys,
  request_keys: keys,
};

/** The frames of SAMA clients, besides `request`, that Herald answers with `not_supported`, and what does the same. */
export const unsupportedFrames: Readonly<Record<string, string>> = {
  message: "send with `POST /admin/message` from your backend",
  system_message: sendSystem,
  read: "use the request `message_read`",
  delivered: "use the request `ack`",
};
