import type { ErrorCode } from "./errors.ts";

/** What the page of an error says, in Markdown: what the error means, why it happens, and what to do about it. */
export type Explanation = { meaning: string; causes: readonly string[]; remedies: readonly string[] };

const sameId = "Send the same request again with the same id. A send that was stored is not repeated.";

/** The explanation of every error. */
export const errorExplanations: Record<ErrorCode, Explanation> = {
  malformed_json: {
    meaning: "Herald cannot read the body as JSON. `detail` says where reading stopped.",
    causes: [
      "The body is cut off, or has a trailing comma, a comment or single quotes.",
      "The body is not encoded in UTF-8.",
      "An object has the same member twice, or a number would change when it is parsed. Herald refuses both, so that no program reads something else than another.",
      "A shell has replaced part of the body, such as `$` or `!` within double quotes.",
    ],
    remedies: [
      "Let a JSON library write the body instead of joining texts.",
      "With `curl`, put the body in single quotes, or in a file: `--data-binary @body.json`.",
    ],
  },
  bad_request: {
    meaning: "Something is wrong with the request itself rather than with a value in it. `detail` says what.",
    causes: [
      "The path is not valid percent-encoded UTF-8.",
      "`Host` or `Content-Length` is missing, repeated or invalid.",
      "The connection broke off before the whole body had arrived.",
      "A method without a body, such as `GET`, came with one.",
      "A frame on a WebSocket is not a JSON object with a single member.",
    ],
    remedies: [
      "Percent-encode each id in a path on its own, as `encodeURIComponent` does.",
      "If `detail` says that the request was incomplete, send it again with the same id.",
    ],
  },
  unauthorized: {
    meaning: "Herald does not accept the key or the token. The answer is the same for a key that never existed.",
    causes: [
      "The header `Admin-Api-Key` is missing, or its value has a line break or quotes at the end.",
      "The key was revoked, has expired, or its old secret is no longer valid after a rotation.",
      "The key is limited to certain networks, and the call comes from elsewhere.",
      "A user token has expired, is signed with another secret, or lives longer than `HERALD_LIMIT_TOKEN_SECONDS` allows.",
      "The user was removed or blocked, or the user's sessions were revoked.",
      "The signed address of a file has expired.",
    ],
    remedies: [
      "Check the key with `GET /admin/self`, which accepts every valid key.",
      "For a user, get a fresh token from your backend, and connect again.",
      "Do not repeat the call unchanged: after many such answers, an address gets 429.",
    ],
  },
  insufficient_scope: {
    meaning: "The key is valid, but may not do this. `detail` names what it lacks.",
    causes: [
      "The operation needs a scope that the key does not have.",
      "The key creates or revokes a key that may do more than it may itself, lives longer, or may be used from more networks.",
    ],
    remedies: [
      "Use a key with the scope. `GET /admin/self` lists the scopes of the key that makes the call.",
      "Create a key with exactly the scopes that the program needs, and not `*`.",
    ],
  },
  organization_forbidden: {
    meaning:
      "The key is bound to one organization, and the call concerns another one, or the whole server. Herald answers before it looks, so that the answer does not tell whether the other organization exists.",
    causes: [
      "The path or `organizationId` names another organization than the key's.",
      "The operation concerns all organizations, as `GET /admin/organizations` does.",
    ],
    remedies: [
      "Compare the organization with the `organization` in `GET /admin/self`.",
      "Use the key of the organization, or one that is not bound to any.",
    ],
  },
  sender_forbidden: {
    meaning: "The key may send only as certain users, and this is none of them.",
    causes: [
      "`senderId` is not in the key's list of senders.",
      "The key creates a key that may send as anyone, or as a user that is not in its own list.",
    ],
    remedies: [
      "Send as one of the `allowed_senders` in `GET /admin/self`.",
      "Create a key that may send as this user, with a key that may.",
    ],
  },
  own_proposal: {
    meaning: "Whoever proposes a send does not decide about it. The key that decides must be another one.",
    causes: [
      "The key that approves or rejects has made the proposal.",
      "The key that approves or rejects was made by the key that made the proposal.",
    ],
    remedies: ["Decide with a key that somebody else has made, for example a person's key in the console."],
  },
  origin_forbidden: {
    meaning: "A browser sent the request for a web page whose origin is not allowed to connect.",
    causes: [
      "The page's origin is neither the server's own nor in `HERALD_ALLOWED_ORIGINS`.",
      "The page has the origin `null`: it is sandboxed, or was opened from a file.",
      "A proxy in front of Herald changes `Host`, so that the server's own pages seem to come from elsewhere.",
    ],
    remedies: [
      "Add the origin, such as `https://app.example.org`, to `HERALD_ALLOWED_ORIGINS` and restart.",
      "Serve a page with the origin `null` from a web address.",
      "Let the proxy keep `Host`, as [the page on proxies](/docs/how-to/configure) shows.",
    ],
  },
  sender_not_participant: {
    meaning: "Only participants of a conversation may send to it, read it and react in it. The sender is none.",
    causes: [
      "The sender was never added to the conversation, or has been removed from it.",
      "`cid` names another conversation than the one you mean.",
    ],
    remedies: [
      "Add the sender with `PUT …/conversations/{cid}/participants/{uid}`, then send again.",
      "For texts that come from your system rather than from a person, create a user for it and add that user.",
    ],
  },
  sender_not_owner: {
    meaning: "A message may be edited, or continued, only by the user who sent it.",
    causes: [
      "`senderId` is not the user who sent the message.",
      "The `_id` is that of another message than the one you mean.",
    ],
    remedies: [
      "Use the message's own sender, who is its `from`, as `senderId`.",
      "To remove somebody else's message, take it back with `DELETE /admin/message`: every participant may.",
    ],
  },
  not_a_participant: {
    meaning:
      "The user of this connection is not a participant of the conversation. Herald gives the same answer for a conversation that does not exist.",
    causes: [
      "The user was removed from the conversation after the client had listed it.",
      "The client asks for a conversation of another user, or of another organization.",
    ],
    remedies: [
      "Let the client request only conversations that `conversation_list` returns, and list them again after this error.",
      "If the user should see it, add the user with `PUT …/conversations/{cid}/participants/{uid}`.",
    ],
  },
  not_found: {
    meaning: "Nothing is at this path: no such operation, or no such webhook, key, proposal or scheduled send.",
    causes: [
      "The path has a typing error, or a slash too many.",
      "An id in the path is not percent-encoded.",
      "The server has an internal address (`HERALD_ADMIN_PORT`), and the call went to the public one, which serves only clients.",
      "What the path names was deleted.",
    ],
    remedies: [
      "Compare the path with the [HTTP API](/docs).",
      "Send calls under `/admin` to the internal address, if there is one.",
    ],
  },
  organization_not_found: {
    meaning: "There is no organization with this id.",
    causes: [
      "It was not created yet, or was deleted.",
      "The id differs in upper and lower case, or has white space: ids are compared byte for byte.",
      "The call went to another server than the one where the organization is.",
    ],
    remedies: ["Create it with `PUT /admin/organizations/{org}`, which may be repeated."],
  },
  conversation_not_found: {
    meaning: "There is no conversation with this id in the organization.",
    causes: ["It was not created yet, or was deleted.", "It belongs to another organization."],
    remedies: [
      "Create it, with its participants, by `PUT …/conversations/{cid}`, then send again.",
      "If your backend creates conversations as they are needed, create first and send after the answer.",
    ],
  },
  sender_not_found: {
    meaning: "The user in `senderId` does not exist in the organization.",
    causes: ["The user was not created yet, or was removed.", "The id is that of a user of another organization."],
    remedies: ["Create the user with `PUT …/users/{uid}`, then send again."],
  },
  user_not_found: {
    meaning: "There is no user with this id in the organization.",
    causes: [
      "The user was not created yet. A user also exists from the first connection with a valid token on.",
      "The user was removed.",
    ],
    remedies: ["Create the user with `PUT …/users/{uid}`, which may be repeated."],
  },
  message_not_found: {
    meaning: "There is no such message in this place, or it is there no more.",
    causes: [
      "The message was taken back or has expired, or retention has removed it.",
      "The message is in another conversation or another organization.",
      "The id is the `id` that your backend chose, and not the `_id` that Herald returned.",
    ],
    remedies: [
      "Use the `server_mid` of the answer to the send, which is the message's `_id`.",
      "Treat a message that is gone as removed: show nothing, and do not try again.",
    ],
  },
  file_not_found: {
    meaning: "There is no file with this `file_id` for this caller.",
    causes: [
      "It was never uploaded, or to another organization.",
      "No message named it within 24 hours of the upload, so it was removed.",
      "The message that named it was taken back, was deleted, or has expired.",
    ],
    remedies: [
      "Upload the file first, then send the message that names it.",
      "Upload it again if a day has passed since.",
    ],
  },
  method_not_allowed: {
    meaning: "The path exists, but not with this method. The header `Allow` lists those that it has.",
    causes: [
      "The call uses `POST` where Herald creates and changes with `PUT`, or the other way round.",
      "A redirect, such as one from `http` to `https`, turned the method into `GET`.",
    ],
    remedies: ["Use a method from `Allow`.", "Call the final address, with `https`, rather than one that redirects."],
  },
  message_id_conflict: {
    meaning:
      "The id names a send, so that a retry is not sent twice. This id was used before, with something else. Herald has stored nothing.",
    causes: [
      "Two different messages got the same id, for example from a counter that started again.",
      "A retry was built anew and differs: in a time, an order, or an option such as `silent`.",
    ],
    remedies: [
      "Keep the exact payload for retries, or build it only from what does not change.",
      "Take the id from what the message is about, such as `order-4711-shipped`, or use a random one for each send.",
      "If the first send was the wrong one, edit it or take it back.",
    ],
  },
  already_sent: {
    meaning: "The scheduled send or the proposal does not wait any more, so that it cannot be changed or decided.",
    causes: [
      "It has been sent, was refused when it was due, was cancelled, or was rejected.",
      "Somebody else decided first, or its time came in between.",
    ],
    remedies: [
      "Read what became of it with a `GET` of the same path.",
      "To send something else, choose a new id. To correct what was sent, edit it or take it back.",
    ],
  },
  append_conflict: {
    meaning:
      "The piece does not begin where the message ends. `length` in the answer says how long the text is, in Unicode code points.",
    causes: [
      "An earlier piece was stored although its answer got lost, or was never stored.",
      "Two programs write the same message.",
      "The length was counted in bytes or UTF-16 units rather than code points.",
      "The message is complete: after `done`, or after ten minutes without a piece.",
    ],
    remedies: [
      "Go on with the text that comes after `length`; the SDKs do this themselves.",
      "If the message is complete, edit it, or send another one.",
    ],
  },
  message_open: {
    meaning: "The message is still being written, so that it cannot be edited.",
    causes: ["It was sent with `open`, and no piece with `done` has completed it."],
    remedies: [
      "Complete it with `PUT /admin/message/append` and `done`, then edit it.",
      "Or take it back, which works at any time.",
    ],
  },
  cursor_too_old: {
    meaning:
      "Events that came after the cursor are not in the log any more. Going on from it would skip them without a word, so Herald refuses.",
    causes: [
      "The consumer was away for longer than events are kept.",
      "A failover of the database lost the newest events, and the cursor is one of them.",
    ],
    remedies: [
      "Read what is stored with an export, then follow the feed from its newest cursor.",
      "Let the consumer run more often, or keep events longer.",
    ],
  },
  payload_too_large: {
    meaning: "The body, a line of it, or the file is larger than the server allows. `detail` states the limit.",
    causes: [
      "The body exceeds `HERALD_LIMIT_REQUEST_BYTES`, or the file `HERALD_LIMIT_FILE_BYTES`.",
      "A file was put into `x` or the text, instead of being uploaded.",
    ],
    remedies: [
      "Upload the file with `POST …/files`, and name its `file_id`.",
      "Split a batch or an import; both take any number of lines.",
      "Raise the limit in the settings if such requests are meant.",
    ],
  },
  unsupported_media_type: {
    meaning: "Herald does not read bodies of this type, or in this encoding.",
    causes: [
      "`Content-Type` is missing or another one; `curl -d` sends `application/x-www-form-urlencoded` unless told otherwise.",
      "The body is compressed and has a `Content-Encoding`.",
      "The charset is not UTF-8.",
    ],
    remedies: [
      "Send `Content-Type: application/json`; for batches and imports, `application/x-ndjson`.",
      "Send the body uncompressed.",
    ],
  },
  invalid_request: {
    meaning:
      "The body, the query or the path does not fit the operation's schema. `errors` has an entry for each wrong value, with a JSON Pointer to it.",
    causes: [
      "A member is missing, has another type, or exceeds a limit of this server.",
      "A member is unknown. Herald refuses those, so that a typing error is not ignored.",
      "Two options exclude each other, or a time is in the past.",
      "The organization's storage is full.",
    ],
    remedies: [
      "Correct each value that `errors` points to: `/message/body` is the member `body` of `message`.",
      "Compare with the schema in [openapi.json](/openapi.json), or use an SDK, whose types follow it.",
    ],
  },
  rate_limited: {
    meaning:
      "A limit is used up for the moment. `detail` and the header `RateLimit-Policy` name it; `Retry-After` says when there is room again. Nothing was stored.",
    causes: [
      "The key, the organization or the user makes more requests than their limit allows.",
      "The user or the address has too many connections open.",
      "Many calls from this address had a wrong key or token.",
      "Too many exports, imports or feeds of the organization run at once.",
    ],
    remedies: [
      "Wait for `Retry-After` seconds, then send the same request again with the same id; the SDKs do.",
      "Send many messages as a [batch](/docs/how-to/send-many).",
      "Let clients share one connection per device, and close those that they no longer need.",
      "Raise the limit named in `detail`, for the server or for this organization.",
    ],
  },
  not_supported: {
    meaning: "A client asked over its socket for something that only your backend does, or that Herald does not have.",
    causes: ["A client written for SAMA uses a request that Herald leaves to the backend, such as `message_edit`."],
    remedies: [
      "Do what the message of the error names, usually a call from your backend.",
      "See which requests work in [move from SAMA](/docs/how-to/move-from-sama).",
    ],
  },
  unavailable: {
    meaning:
      "Herald cannot handle the request at this moment. Whether it was stored is unknown unless `detail` says so.",
    causes: [
      "The database or the bus does not answer, or is failing over.",
      "The node is starting or stopping.",
      "More work is waiting than the node takes on.",
    ],
    remedies: [
      `Wait for \`Retry-After\` seconds. ${sameId}`,
      "If it lasts, ask `GET /readyz` what is wrong, and look at the log of the node.",
    ],
  },
  storage_full: {
    meaning: "The disk, or the database, has no room. Herald stores nothing then, rather than part of something.",
    causes: [
      "The disk of the data folder, of the files or of PostgreSQL is full.",
      "Something else on the same disk has grown, such as logs or backups.",
    ],
    remedies: [
      `Free space on the server, or enlarge the disk. Herald goes on by itself. ${sameId}`,
      "Set how long messages are kept, and give files a disk of their own.",
    ],
  },
  internal: {
    meaning:
      "Herald made a mistake. The cause is in the log of the node, under the `request_id`, and not in the answer.",
    causes: ["A fault in Herald, or in what it runs on."],
    remedies: [sameId, "If it comes again, report it with the `request_id` and the lines of the log that have it."],
  },
};
