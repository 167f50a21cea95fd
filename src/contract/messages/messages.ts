import { z } from "zod";
import { fitsAsJson, isObject } from "../../lib/json/json-values.ts";
import { dryRunResponse } from "../delivery.ts";
import { maxContentTypeCharacters, maxNameCharacters } from "../files.ts";
import { identifier, text, userIds } from "../identifiers.ts";
import type { PayloadLimits } from "../limits.ts";
import { keeping } from "./inbox.ts";

/** Free-form parameters: any JSON object, delivered with exactly the members and values that were sent. */
export function customParameters(maxBytes: number) {
  return z
    .custom<Record<string, unknown>>(isObject, "must be a JSON object")
    .refine((value) => fitsAsJson(value, maxBytes), `must be at most ${maxBytes} bytes as JSON`)
    .meta({
      type: "object",
      additionalProperties: true,
      description: `Custom parameters, delivered unchanged${Number.isFinite(maxBytes) ? `; at most ${maxBytes.toLocaleString("en-US")} bytes as JSON` : ""}.`,
    });
}

const attachmentUpload = z
  .strictObject({
    name: text(1, maxNameCharacters).meta({ description: "The file's name; recipients see it as `file_name`." }),
    size: z.int().nonnegative().optional().meta({ description: "The file's size in bytes." }),
    content_type: text(0, maxContentTypeCharacters).optional().meta({ description: "The file's media type." }),
    file_id: identifier.optional().meta({
      description:
        "The id of a file of the organization. Without it, the server assigns an id, under which the bytes can be uploaded afterwards.",
    }),
  })
  .meta({ title: "NewAttachment" });

/** The member of both sends that asks for a message which nobody is alerted to. */
export const silent = z.literal(true, "must be true").optional().meta({
  description:
    "`true` sends it silently: it is delivered like any other, but counts as unread nowhere, and no webhook tells of it.",
});

/** The member of both sends that ends them at a time. */
const expiresAt = z.iso.datetime({ offset: true }).optional().meta({
  type: "string",
  format: "date-time",
  description:
    "When it ends (ISO 8601), in the future and at most a year ahead: from then on it is delivered, listed, replayed, counted and told by a webhook no more, its content is removed, and open connections hear the same event as for a recall. The clock of the database decides.",
});

/** The members of a message that name another, in the contract's words of `said`. */
export const referring = (said: { replied: string; forwarded: string }) => ({
  replied_message_id: identifier.optional().meta({ description: said.replied }),
  forwarded_message_id: identifier.optional().meta({ description: said.forwarded }),
});

const visible = "its `server_mid`; the sender must take part in its conversation, and it must be there";

/** The members of every request that acts as a user. */
export const envelope = {
  organizationId: identifier.meta({ description: "The organization of the sender and the recipients." }),
  senderId: identifier.meta({ description: "The user to send as." }),
};

/** JSON Schema that requires the member `name` to be present and not empty. */
function needsMember(name: string, notEmpty: object) {
  return { required: [name], properties: { [name]: notEmpty } };
}

/** JSON Schema that requires the members to be present. */
export function hasMembers(names: string[]) {
  return { required: names, properties: Object.fromEntries(names.map((name) => [name, {}])) };
}

/**
 * The members that are the content of a message, and how the documents describe their object: with `if`, which generators of
 * clients ignore. `anyOf` and `oneOf` make them drop the members: openapi-generator 7, openapi-python-client 0.29.
 */
export function contentOfMessage(limits: PayloadLimits) {
  return {
    shape: {
      body: text(0, limits.bodyCharacters).default("").meta({ description: "The text." }),
      x: customParameters(limits.xBytes).default({}),
      attachments: z
        .array(attachmentUpload)
        .max(limits.attachments, `must hold at most ${limits.attachments} attachments`)
        .default(() => []), // as Zod would inspect and copy a value for each message
    },
    meta: {
      description: "Needs a non-empty `body` or an attachment.",
      if: needsMember("body", { minLength: 1 }),
      else: needsMember("attachments", { minItems: 1 }),
    },
  };
}

/** The rule that a message has content. One that grows may begin without. */
export const hasContent = {
  check: ({ body, attachments, open }: { body: string; attachments: readonly unknown[]; open?: true | undefined }) =>
    body !== "" || attachments.length > 0 || open === true,
  message: "needs a non-empty `body` or an attachment",
};

const open = z.literal(true, "must be true").optional().meta({
  description:
    "`true` sends a message that is not complete: `PUT /admin/message/append` adds to its text. Ten minutes without a piece complete it as it is.",
});

/**
 * The rule that a send has a complete message, as all have but those that `POST /admin/message` begins, and how the documents describe it:
 * with `not`, which generators of clients ignore.
 */
export const isComplete = {
  check: (request: object) =>
    !("message" in request && isObject(request.message) && request.message.open !== undefined),
  refusal: {
    path: ["message", "open"],
    message: "must be absent: only `POST /admin/message` begins a message that grows",
  },
  meta: { not: { required: ["message"], properties: { message: hasMembers(["open"]) } } },
};

/** The body of `POST /admin/message` (seed, 2.1 and 2.2). */
export function createSendMessageRequest(limits: PayloadLimits) {
  const { shape, meta } = contentOfMessage(limits);
  const { body, x, attachments } = shape;
  const message = z
    .strictObject({
      id: identifier.optional().meta({ description: "Identifies the send: the same id again is a retry." }),
      body,
      cid: identifier.meta({ description: "The conversation." }),
      x,
      attachments,
      silent,
      open,
      expires_at: expiresAt,
      ...referring({
        replied: `The message that this one replies to: ${visible}.`,
        forwarded: `The message that this one forwards: ${visible}.`,
      }),
    })
    .refine(hasContent.check, hasContent.message)
    .meta({
      ...meta,
      description: "Needs a non-empty `body`, an attachment or `open`.",
      if: { anyOf: [meta.if, hasMembers(["open"])] },
      title: "NewMessage",
    });
  return z.strictObject({ ...envelope, message }).meta({ id: "SendMessageRequest" });
}

/** A message to send, with defaults filled in. */
export type SendMessageRequest = z.output<ReturnType<typeof createSendMessageRequest>>;

const addresses = ["uids", "cid", "everyone"] as const;
const needsOneAddress = "needs exactly one of `uids`, `cid` and `everyone`";
const pairsOfAddresses = addresses.flatMap((name, index) => addresses.slice(index + 1).map((other) => [name, other]));

type Address = { [name in (typeof addresses)[number]]?: unknown };

/** The rule that a system message has one address, and how the documents describe it. */
export const oneAddress = {
  check(given: Address, { addIssue }: Pick<z.core.$RefinementCtx, "addIssue">): void {
    const [first, ...others] = addresses.filter((name) => given[name] !== undefined);
    if (first === undefined) addIssue({ code: "custom", message: needsOneAddress, path: ["uids"] });
    for (const name of others)
      addIssue({ code: "custom", message: `excludes \`${first}\`: ${needsOneAddress}`, path: [name] });
  },
  meta: {
    description: "Needs exactly one of `uids`, `cid` and `everyone`.",
    if: {
      anyOf: addresses.map((name) => hasMembers([name])),
      not: { anyOf: pairsOfAddresses.map(hasMembers) },
    },
    else: { not: {} },
  },
};

/** The body of `POST /admin/message/system` (seed, 2.1 and 2.3; api.md, 2.1). */
export function createSendSystemMessageRequest(limits: PayloadLimits) {
  const messageSystem = z
    .strictObject({
      id: identifier.optional().meta({ description: "Identifies the send: the same id again is a retry." }),
      uids: userIds({ minimum: 1, maximum: limits.recipients })
        .optional()
        .meta({ description: "Sends it to these users. Duplicate ids are ignored." }),
      cid: identifier
        .optional()
        .meta({ description: "Sends it to everyone who takes part in this conversation, as the sender must." }),
      everyone: z
        .literal(true, "must be true")
        .optional()
        .meta({ description: "`true` sends it to all users of the organization." }),
      x: customParameters(limits.xBytes).default({}),
      ...keeping,
      silent,
      expires_at: expiresAt,
    })
    .superRefine((given, context) => {
      if (given.key !== undefined && given.keep_days === undefined)
        context.addIssue({ code: "custom", message: "needs `keep_days`", path: ["key"] });
      oneAddress.check(given, context);
    })
    .meta({ title: "NewSystemMessage", dependentRequired: { key: ["keep_days"] }, ...oneAddress.meta });
  return z.strictObject({ ...envelope, messageSystem }).meta({ id: "SendSystemMessageRequest" });
}

/** A system message to send, with defaults filled in. */
export type SendSystemMessageRequest = z.output<ReturnType<typeof createSendSystemMessageRequest>>;

const timestamp = z.int().meta({ description: "Unix epoch seconds." });

const ask = z
  .strictObject({
    mid: z.string().meta({ description: "The `message.id` of the request or, without one, the `server_mid`." }),
    server_mid: z
      .string()
      .meta({ description: "The id that the server assigned to the message. Recipients see it as `_id`." }),
    t: timestamp,
  })
  .meta({ title: "Ask" });

/** The response to `POST /admin/message` (seed, 4.1). The key really is spelled `ask`. */
export const sendMessageResponse = z.strictObject({ ask }).meta({ id: "SendMessageAnswer" });

/** The response to `POST /admin/message`. */
export type SendMessageResponse = z.infer<typeof sendMessageResponse>;

const ack = z
  .strictObject({
    mid: z.string().meta({
      description: "The `messageSystem.id` of the request or, without one, an id that the server assigned.",
    }),
    t: timestamp,
  })
  .meta({ title: "Ack" });

/** The response to `POST /admin/message/system` (seed, 4.2). */
export const sendSystemMessageResponse = z.strictObject({ ack }).meta({ id: "SendSystemMessageAnswer" });

/** The response to `POST /admin/message/system`. */
export type SendSystemMessageResponse = z.infer<typeof sendSystemMessageResponse>;

/** What either response to `POST /admin/message` fits, stored or a dry run. */
export const sendMessageOutcome = z
  .strictObject({ ask: ask.optional(), ...dryRunResponse.partial().shape })
  .meta({ id: "SendMessageOutcome", description: "`dry_run` of a dry run, `ask` otherwise." });

/** What either response to `POST /admin/message/system` fits, stored or a dry run. */
export const sendSystemMessageOutcome = z
  .strictObject({ ack: ack.optional(), ...dryRunResponse.partial().shape })
  .meta({ id: "SendSystemMessageOutcome", description: "`dry_run` of a dry run, `ack` otherwise." });
