import { z } from "zod";
import { isUuidV7 } from "../lib/text/ids.ts";
import { pageOf, pageQuery } from "./directory.ts";
import { errorCatalogue } from "./errors/errors.ts";
import { identifier, isoTime } from "./identifiers.ts";

const id = (what: string) => z.string().optional().meta({ description: what });

/** The ids that a call referred to. */
export const auditTarget = z
  .strictObject({
    organization: id("The organization."),
    user: id("The user."),
    conversation: id("The conversation."),
    key: id("The API key."),
    session: id("The session of a person that began or ended."),
    token: id("The `jti` of the revoked token."),
    connection: id("The connection that the call closed."),
    sender: id("The `senderId` of the send."),
    message: id("The message or system message that the call read, or the message that it edited."),
    messages: z.array(z.string()).optional().meta({
      description:
        "The messages that the call took back or, with a `user`, hid from that user. Entries that are no valid ids are left out.",
    }),
    scheduled: id("The scheduled send."),
    proposal: id("The proposal."),
    proposer: id("The key that proposed what the call decided."),
    webhook: id("The webhook."),
    delivery: id("The delivery of the webhook."),
    lines: id("How many lines were imported, exported or sent in a batch, in decimal."),
    stored: id("How many lines of a batch were stored, in decimal."),
    replayed: id("How many lines of a batch had been stored before, in decimal."),
    failed: id("How many lines of an import or a batch failed, in decimal."),
    erased: id("How many messages were erased together with the user who wrote them, in decimal."),
  })
  .meta({
    id: "AuditTarget",
    description:
      "The ids that the call referred to, including the id of a key that it created; of an import, an export or a batch, how much it was.",
  });

/** The ids that a call referred to. */
export type AuditTarget = z.infer<typeof auditTarget>;

const results = ["done", "refused", "failed"] as const;

/** The outcome of a call. */
export type AuditResult = (typeof results)[number];

/** One entry of the audit log. */
export const auditEntry = z
  .strictObject({
    id: z.string().meta({ description: "The id of the entry." }),
    created_at: isoTime.meta({ description: "When the call ended." }),
    operation: z.string().meta({ description: "The `operationId`." }),
    organization: z.string().nullable().meta({
      description:
        "The organization that owns the entry: the one that the call acted on or, if the key had no access to it, the key's own. `null` if there is none.",
    }),
    key_id: z.string().nullable().meta({
      description:
        "The calling key; `bootstrap` for the bootstrap key; `oidc:` and the subject for whom an OpenID provider vouches. `null` if the status is 401: an unauthenticated call is attributed to no key.",
    }),
    person: z.string().nullable().meta({
      description:
        "What the OpenID provider calls the person or workload: a verified address, or else a name. `null` for a key.",
    }),
    address: z.string().nullable().meta({ description: "The caller's address." }),
    target: auditTarget,
    result: z.enum(results).meta({
      description: "`done`: the call succeeded. `refused`: the call changed nothing. `failed`: the outcome is unknown.",
    }),
    status: z.int().meta({ description: "The HTTP status of the response." }),
    code: z
      .enum(Object.keys(errorCatalogue) as [keyof typeof errorCatalogue])
      .nullable()
      .meta({ description: "The error code, or `null` if the call succeeded." }),
    request_id: z.string().meta({ description: "The `X-Request-Id` of the response." }),
    omitted: z.int().min(0).meta({
      description:
        "The number of refused or failed calls that this node left out just before this entry because there were too many.",
    }),
  })
  .meta({
    id: "AuditEntry",
    description:
      "Who did what. Contains ids, and what the caller is called at the OpenID provider, but never message content, other names or secrets.",
  });

/** One entry of the audit log. */
export type AuditEntryShown = z.infer<typeof auditEntry>;

/** A page of the audit log. */
export const auditPage = pageOf(auditEntry).meta({ id: "AuditPage" });

const moment = z.iso.datetime({ offset: true }).optional();

/** The query of the audit log. */
export const auditQuery = pageQuery.extend({
  after: z.string().refine(isUuidV7, "must be the `id` of an entry, unchanged").optional().meta({
    description:
      "The `id` of an entry: only entries after it, oldest first, so that a reader who gives the last `id` that it has worked off misses none. With PostgreSQL, an entry comes 2 s after it was written, so that none of another node comes in before it later.",
  }),
  organization: identifier.optional().meta({ description: "Only entries of this organization." }),
  key: identifier.optional().meta({ description: "Only calls with this key, by id." }),
  operation: identifier.optional().meta({ description: "Only calls to this `operationId`." }),
  result: z.enum(results).optional().meta({ description: "Only calls with this result." }),
  status: z
    .string()
    .regex(/^[1-5]\d\d$/, "must be an HTTP status such as 403")
    .transform(Number)
    .optional()
    .meta({
      type: "integer",
      minimum: 100,
      maximum: 599,
      pattern: undefined,
      description: "Only calls with this status.",
    }),
  since: moment.meta({ description: "Only calls at or after this time (ISO 8601)." }),
  until: moment.meta({ description: "Only calls before this time (ISO 8601)." }),
});

/** The parsed query of the audit log. */
export type AuditQuery = z.output<typeof auditQuery>;
