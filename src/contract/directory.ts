import { z } from "zod";
import { identifier, text, userIds } from "./identifiers.ts";
import type { PayloadLimits } from "./limits.ts";
import { messageSchema } from "./messages/events.ts";

const maxNameCharacters = 256;
const mostTokenSeconds = 100 * 365 * 24 * 3600; // where the limit is lifted: dates have an end, too
const defaultTokenSeconds = 3600;
const maxListLimit = 1000;

const name = text(1, maxNameCharacters)
  .nullable()
  .optional()
  .meta({ description: "`null` clears it; left out, it stays." });

/** An organization, a user or a conversation, as the admin API shows it. */
export const resource = z
  .strictObject({
    id: z.string().meta({ description: "The id that the caller chose." }),
    name: z.string().nullable().meta({ description: "`null` until it is set." }),
    created_at: z.iso.datetime({ precision: 3 }).meta({ description: "ISO 8601 UTC with milliseconds." }),
  })
  .meta({ id: "Resource", description: "An organization, a user or a conversation." });

/** An organization, a user or a conversation, as the admin API shows it. */
export type Resource = z.infer<typeof resource>;

/** A user, as the admin API shows it. */
export const user = resource
  .extend({
    blocked: z.literal(true).optional().meta({ description: "Only there while the user is blocked." }),
  })
  .meta({ id: "User", description: "A user." });

/** A user, as the admin API shows it. */
export type User = z.infer<typeof user>;

/** The body of `PUT` of a user. */
export const putUserRequest = z
  .strictObject({
    name,
    blocked: z.boolean().optional().meta({
      description:
        "`true` closes the user's connections and refuses every token of theirs, whoever issued it, until `false`; left out, it stays.",
    }),
  })
  .meta({ id: "PutUserRequest" });

const limitMeanings = {
  requests_per_second: "Requests in a second, over all keys; each node counts those that it is sent.",
  messages_per_second:
    "Messages and system messages that are stored in a second; each node counts those that it is sent.",
  connections: "Connections that are open at once.",
  stored_bytes: "Bytes of stored events. Over it, sends are answered with 422.",
} as const;

/** A member for each limit of an organization. */
function forEachLimit<Member extends z.ZodType>(memberOf: (meaning: string) => Member) {
  return {
    requests_per_second: memberOf(limitMeanings.requests_per_second),
    messages_per_second: memberOf(limitMeanings.messages_per_second),
    connections: memberOf(limitMeanings.connections),
    stored_bytes: memberOf(limitMeanings.stored_bytes),
  };
}

/** The body of `PUT` of an organization. */
export const putOrganizationRequest = z
  .strictObject({
    name,
    limits: z
      .strictObject(forEachLimit((description) => z.int().min(0).nullable().optional().meta({ description })))
      .optional()
      .meta({
        description:
          "Limits of its own. `null`: the server's, 0: none; what is left out stays. Only for keys of all organizations.",
      }),
  })
  .meta({ id: "PutOrganizationRequest" });

/** What a `PUT` changes of an organization. */
export type OrganizationChange = z.infer<typeof putOrganizationRequest>;

/** An organization with what it may use, and uses. */
export const organizationShown = resource
  .extend({
    limits: z
      .strictObject(forEachLimit((description) => z.int().min(0).nullable().meta({ description })))
      .meta({ description: "Its own limits. `null`: the server's, 0: none." }),
    usage: z
      .strictObject({
        requests_per_second: z.int().min(0).nullable().meta({
          description: "In the last whole second, on all nodes; what has more than 64 KiB counts for several.",
        }),
        messages_per_second: z
          .int()
          .min(0)
          .nullable()
          .meta({ description: "Stored in the last whole second, on all nodes." }),
        connections: z.int().min(0).nullable().meta({ description: "Of users, on all nodes." }),
        stored_bytes: z.int().min(0).meta({ description: "Of the events that are stored." }),
      })
      .meta({ description: "What it uses now. `null`: a node does not answer." }),
  })
  .meta({ id: "Organization", description: "An organization, its limits and their use." });

/** An organization with what it may use, and uses. */
export type OrganizationShown = z.infer<typeof organizationShown>;

/** The body of `PUT` of a conversation. */
export function createPutConversationRequest(limits: PayloadLimits) {
  const participants = userIds({ maximum: limits.participants })
    .optional()
    .meta({ description: "Replaces the set; unknown users are created. Left out, the set stays." });
  return z.strictObject({ name, participants }).meta({ id: "PutConversationRequest" });
}

/** The body of `POST …/tokens`. */
export function createTokenRequestWithin({ tokenSeconds }: Pick<PayloadLimits, "tokenSeconds">) {
  const longest = Math.min(tokenSeconds, mostTokenSeconds);
  const seconds = z.int().min(1).max(longest).default(Math.min(defaultTokenSeconds, longest));
  return z
    .strictObject({ ttl_seconds: seconds.meta({ description: "How long the token is valid." }) })
    .meta({ id: "CreateTokenRequest" });
}

/** The answer to `POST …/tokens`. */
export const createTokenResponse = z
  .strictObject({
    token: z
      .string()
      .meta({ description: "A JWT; it goes into `connect` or `Authorization: Bearer`, never into a URL." }),
    expires_at: z.iso.datetime({ precision: 3 }).meta({ description: "ISO 8601 UTC with milliseconds." }),
  })
  .meta({ id: "CreateTokenResponse" });

/** A page of a list. `cursor` asks for the next page; `null` says that there is none. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  const cursor = z.string().nullable().meta({ description: "Ask for the next page with it; `null`: there is none." });
  return z.strictObject({ items: z.array(item), cursor });
}

/** A page of organizations, users or conversations. */
export const resourcePage = pageOf(resource).meta({ id: "ResourcePage" });

/** A page of users. */
export const userPage = pageOf(user).meta({ id: "UserPage" });

/** A page of a conversation's history. */
export const messagePage = pageOf(messageSchema).meta({ id: "MessagePage" });

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
    .meta({ type: "integer", minimum: 1, maximum: maxListLimit, description: "Items of one page." }),
  cursor: z.string().min(1).max(1024).optional().meta({ description: "The `cursor` of the page before." }),
});

/** The query of a conversation's history. */
export const historyQuery = pageQuery.extend({
  before: identifier.optional().meta({ description: "Only messages older than this `_id`." }),
  after: identifier
    .optional()
    .meta({ description: "Only messages newer than this `_id`; the answer is then oldest first." }),
});
