import { z } from "zod";
import { pageOf, pageQuery } from "./directory.ts";
import { errorCatalogue } from "./errors/errors.ts";
import { identifier } from "./identifiers.ts";

const id = (what: string) => z.string().optional().meta({ description: what });
const time = z.iso.datetime({ precision: 3 });

/** The ids that a call named. */
export const auditTarget = z
  .strictObject({
    organization: id("The organization that the call was about."),
    user: id("The user."),
    conversation: id("The conversation."),
    key: id("The API key."),
    token: id("The token that was revoked, by its `jti`."),
    sender: id("The user that was to be the sender."),
    message: id("The message or system message that was read."),
  })
  .meta({ id: "AuditTarget", description: "The ids that a call named, and the id of a key that it made." });

/** The ids that a call named. */
export type AuditTarget = z.infer<typeof auditTarget>;

const results = ["done", "refused", "failed"] as const;

/** What came of a call. */
export type AuditResult = (typeof results)[number];

/** One entry of the audit log. */
export const auditEntry = z
  .strictObject({
    id: z.string().meta({ description: "The id of the entry." }),
    created_at: time.meta({ description: "When the call ended." }),
    operation: z.string().meta({ description: "The `operationId`." }),
    organization: z.string().nullable().meta({
      description:
        "Whose entry it is: the organization that was acted on, or that of the key, if the key was not let in there; `null`: none.",
    }),
    key_id: z.string().nullable().meta({
      description:
        "The key that called; `bootstrap` for that of the settings. With 401 `null`: what such a caller claims is booked on nobody.",
    }),
    address: z.string().nullable().meta({ description: "The address that the call came from." }),
    target: auditTarget,
    result: z.enum(results).meta({
      description: "`done`; `refused`: it was not done, and nothing was changed; `failed`: the outcome is unknown.",
    }),
    status: z.int().meta({ description: "The HTTP status of the answer." }),
    code: z
      .enum(Object.keys(errorCatalogue) as [keyof typeof errorCatalogue])
      .nullable()
      .meta({ description: "The code of the error, if it was one." }),
    request_id: z.string().meta({ description: "The `X-Request-Id` of the answer." }),
    omitted: z.int().min(0).meta({
      description:
        "How many refused or failed calls this node did not write down before this one: there were too many.",
    }),
  })
  .meta({ id: "AuditEntry", description: "Who did what: ids only, never a content, a name or a secret." });

/** One entry of the audit log. */
export type AuditEntryShown = z.infer<typeof auditEntry>;

/** A page of the audit log. */
export const auditPage = pageOf(auditEntry).meta({ id: "AuditPage" });

const moment = z.iso.datetime({ offset: true }).optional();

/** The query of the audit log. */
export const auditQuery = pageQuery.extend({
  organization: identifier.optional().meta({ description: "Only entries of this organization." }),
  key: identifier.optional().meta({ description: "Only calls with the key of this id." }),
  operation: identifier.optional().meta({ description: "Only calls of this `operationId`." }),
  result: z.enum(results).optional().meta({ description: "Only calls with this result." }),
  status: z
    .string()
    .regex(/^[1-5]\d\d$/, "must be an HTTP status such as 403")
    .transform(Number)
    .optional()
    .meta({ type: "integer", minimum: 100, maximum: 599, pattern: undefined, description: "Only answers with this." }),
  since: moment.meta({ description: "Only from this time on (ISO 8601)." }),
  until: moment.meta({ description: "Only before this time (ISO 8601)." }),
});

/** What is asked of the audit log. */
export type AuditQuery = z.output<typeof auditQuery>;
