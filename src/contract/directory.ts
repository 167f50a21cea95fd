import { z } from "zod";
import { createdAt, identifier, isoTime, text, userIds } from "./identifiers.ts";
import type { PayloadLimits } from "./limits.ts";
import { listedMessageSchema } from "./messages/events.ts";

const maxNameCharacters = 256;
const mostTokenSeconds = 100 * 365 * 24 * 3600; // the bound when the limit is lifted: dates have a maximum, too
const defaultTokenSeconds = 3600;
const maxListLimit = 1000;

/** The name of an organization, user or conversation in a change. */
export const entityName = text(1, maxNameCharacters)
  .nullable()
  .optional()
  .meta({ description: "The name. `null` clears it. Omit it to leave the name unchanged." });

/** An organization, a user or a conversation, as the admin API shows it. */
export const resource = z
  .strictObject({
    id: z.string().meta({ description: "The id, chosen by the caller." }),
    name: z.string().nullable().meta({ description: "The name, or `null` if none is set." }),
    created_at: createdAt,
  })
  .meta({ id: "Resource", description: "An organization, a user or a conversation." });

/** An organization, a user or a conversation, as the admin API shows it. */
export type Resource = z.infer<typeof resource>;

/** A user, as the admin API shows it. */
export const user = resource
  .extend({
    blocked: z.literal(true).optional().meta({ description: "Present only while the user is blocked." }),
  })
  .meta({ id: "User", description: "A user." });

/** A user, as the admin API shows it. */
export type User = z.infer<typeof user>;

/** The body of a `PUT` of a user. */
export const putUserRequest = z
  .strictObject({
    name: entityName,
    blocked: z.boolean().optional().meta({
      description:
        "`true` closes the user's connections and refuses all of the user's tokens, whoever issued them, until it is set to `false`. Omit it to leave it unchanged.",
    }),
  })
  .meta({ id: "PutUserRequest" });

/** The query of the deletion of a user. */
export const deleteUserQuery = z.strictObject({
  messages: z.literal("erase").optional().meta({ description: "Erases what the user wrote, too." }),
});

/** A member for each limit of an organization. */
function forEachLimit<Member extends z.ZodType>(memberOf: (meaning: string) => Member) {
  return {
    requests_per_second: memberOf("Requests per second over all keys. Each node counts the requests that it receives."),
    messages_per_second: memberOf(
      "Stored messages, system messages, edits, recalls and reads per second. Each node counts those that it receives.",
    ),
    connections: memberOf("Concurrently open connections."),
    stored_bytes: memberOf("Bytes of stored events. Sends that would exceed it fail with 422."),
  };
}

/** The body of a `PUT` of an organization. */
export const putOrganizationRequest = z
  .strictObject({
    name: entityName,
    limits: z
      .strictObject(forEachLimit((description) => z.int().min(0).nullable().optional().meta({ description })))
      .optional()
      .meta({
        description:
          "Limits for this organization. `null` means the server's default, 0 means no limit, and an omitted limit stays unchanged. Only keys that are not bound to an organization may set limits.",
      }),
  })
  .meta({ id: "PutOrganizationRequest" });

/** The changes that a `PUT` makes to an organization. */
export type OrganizationChange = z.infer<typeof putOrganizationRequest>;

/** An organization with its limits and usage. */
export const organizationShown = resource
  .extend({
    limits: z.strictObject(forEachLimit((description) => z.int().min(0).nullable().meta({ description }))).meta({
      description: "The organization's own limits. `null` means the server's default, 0 means no limit.",
    }),
    usage: z
      .strictObject({
        requests_per_second: z.int().min(0).nullable().meta({
          description:
            "Requests in the last full second, on all nodes. A request larger than 64 KiB counts as several.",
        }),
        messages_per_second: z
          .int()
          .min(0)
          .nullable()
          .meta({ description: "Messages and system messages stored in the last full second, on all nodes." }),
        connections: z.int().min(0).nullable().meta({ description: "Open connections of its users, on all nodes." }),
        stored_bytes: z.int().min(0).meta({ description: "Bytes of its stored events." }),
      })
      .meta({ description: "The organization's current usage. A figure is `null` if a node does not respond." }),
  })
  .meta({ id: "Organization", description: "An organization, its limits and its usage." });

/** An organization with its limits and usage. */
export type OrganizationShown = z.infer<typeof organizationShown>;

/** The body of a `PUT` of a conversation. */
export function createPutConversationRequest(limits: PayloadLimits) {
  const participants = userIds({ maximum: limits.participants }).optional().meta({
    description: "Replaces the set of participants. Unknown users are created. Omit it to leave the set unchanged.",
  });
  return z.strictObject({ name: entityName, participants }).meta({ id: "PutConversationRequest" });
}

/** The body of `POST …/tokens`. */
export function createTokenRequestWithin({ tokenSeconds }: Pick<PayloadLimits, "tokenSeconds">) {
  const longest = Math.min(tokenSeconds, mostTokenSeconds);
  const seconds = z.int().min(1).max(longest).default(Math.min(defaultTokenSeconds, longest));
  return z
    .strictObject({ ttl_seconds: seconds.meta({ description: "How long the token is valid, in seconds." }) })
    .meta({ id: "CreateTokenRequest" });
}

/** The response to `POST …/tokens`. */
export const createTokenResponse = z
  .strictObject({
    token: z.string().meta({ description: "A JWT, for `connect` or `Authorization: Bearer`. Never put it in a URL." }),
    expires_at: isoTime.meta({ description: "ISO 8601 UTC with milliseconds." }),
  })
  .meta({ id: "CreateTokenAnswer" });

/** A page of a list. `cursor` requests the next page; it is `null` on the last page. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  const cursor = z
    .string()
    .nullable()
    .meta({ description: "The cursor of the next page, or `null` on the last page." });
  return z.strictObject({ items: z.array(item), cursor });
}

/** A page of organizations, users or conversations. */
export const resourcePage = pageOf(resource).meta({ id: "ResourcePage" });

/** A page of users. */
export const userPage = pageOf(user).meta({ id: "UserPage" });

/** A page of a conversation's history. */
export const messagePage = pageOf(listedMessageSchema).meta({ id: "MessagePage" });

/** The query of every list: `limit` and `cursor`. */
export const pageQuery = z.strictObject({
  limit: z
    .string()
    .refine(
      (value) => /^\d{1,4}$/.test(value) && Number(value) >= 1 && Number(value) <= maxListLimit,
      `must be a whole number from 1 to ${maxListLimit}`,
    )
    .default("100")
    .transform(Number)
    .meta({
      type: "integer",
      minimum: 1,
      maximum: maxListLimit,
      description: "The maximum number of items in a page.",
    }),
  cursor: z.string().min(1).max(1024).optional().meta({ description: "The `cursor` of the previous page." }),
});

/** A member of a query that is `true` or `false`, which it is by default. */
export function queryFlag(description: string) {
  return z
    .enum(["true", "false"], "must be true or false")
    .default("false")
    .transform((value) => value === "true")
    .meta({ type: "boolean", enum: undefined, description });
}

/** The query of the lists of users and of conversations. */
export const prefixQuery = pageQuery.extend({
  prefix: text(1, maxNameCharacters).optional().meta({
    description:
      "Only those whose id or name begins with this text, ignoring case: first by id, then by name. A page may have fewer entries than `limit`; only a `cursor` of `null` marks the end.",
  }),
});

/** The query of a conversation's history. */
export const historyQuery = pageQuery.extend({
  before: identifier.optional().meta({ description: "Only messages older than this `_id`." }),
  after: identifier.optional().meta({ description: "Only messages newer than this `_id`, oldest first." }),
});
