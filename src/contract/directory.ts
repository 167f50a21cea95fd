import { z } from "zod";
import { messageSchema } from "./events.ts";
import { identifier, text } from "./identifiers.ts";
import type { PayloadLimits } from "./limits.ts";

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

/** The body of `PUT` of an organization. */
export const putResourceRequest = z.strictObject({ name }).meta({ id: "PutResourceRequest" });

/** The body of `PUT` of a conversation. */
export function createPutConversationRequest(limits: PayloadLimits) {
  const participants = z
    .array(identifier)
    .max(limits.participants, `must name at most ${limits.participants} users`)
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
