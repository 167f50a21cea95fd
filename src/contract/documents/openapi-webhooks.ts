import { pascalCase } from "../connections/frame-messages.ts";
import {
  messageRead,
  messageUndeliverable,
  proposalWaiting,
  scheduledFailed,
  usersPresence,
} from "../webhooks/notices.ts";
import { messageUnreached, systemMessageUnreached, webhookTest } from "../webhooks/payloads.ts";
import { type JsonSchema, refName, type SchemaCollector } from "./json-schema.ts";
import {
  messageReadExample,
  messageUndeliverableExample,
  messageUnreachedExample,
  proposalWaitingExample,
  scheduledFailedExample,
  systemMessageUnreachedExample,
  usersPresenceExample,
  webhookTestExample,
} from "./webhook-examples.ts";

const posts = [
  {
    schema: messageUnreached,
    example: messageUnreachedExample,
    summary: "Who has not got a message",
    description:
      "Posted once `wait_seconds` have passed since the send, if anybody has not got the message. What many users have not got comes in several posts, its parts.",
  },
  {
    schema: systemMessageUnreached,
    example: systemMessageUnreachedExample,
    summary: "Who has not got a system message",
    description: "Like `message.unreached`, for system messages.",
  },
  {
    schema: messageRead,
    example: messageReadExample,
    summary: "What a user has read",
    description:
      "Posted at once when a participant has read messages of others, over the socket or by key, to a webhook that asks for it.",
  },
  {
    schema: scheduledFailed,
    example: scheduledFailedExample,
    summary: "A scheduled send that was refused",
    description: "Posted when a scheduled send was refused when it was due, to a webhook that asks for it.",
  },
  {
    schema: proposalWaiting,
    example: proposalWaitingExample,
    summary: "A proposal that waits for a decision",
    description: "Posted at once when a send is proposed, to a webhook that asks for it.",
  },
  {
    schema: messageUndeliverable,
    example: messageUndeliverableExample,
    summary: "A delivery that has failed",
    description:
      "Posted when the last try of a delivery to another webhook has failed, to a webhook that asks for it. Nothing is posted about failures of these posts.",
  },
  {
    schema: usersPresence,
    example: usersPresenceExample,
    summary: "Who comes and goes",
    description:
      "Posted to a webhook that asks for it: first who is online, and then who comes, and who has been gone for `wait_seconds`. Many users come in several posts.",
  },
  {
    schema: webhookTest,
    example: webhookTestExample,
    summary: "A test",
    description: "Posted when the webhook is tested.",
  },
] as const;

/**
 * Not the tag of the operations on webhooks: generators make one file for each tag of `paths`, and then one for each of
 * `webhooks`, which would replace it.
 */
export const webhookTag = { name: "WebhookPosts", description: "What Herald posts to your server." };

const headers = {
  "webhook-id": "The id of the delivery, the same for each try: remember it, and pass over one that you have had.",
  "webhook-timestamp": "When this try was made, in Unix seconds. Refuse one that is older than five minutes.",
  "webhook-signature":
    "`v1,` and the HMAC-SHA-256, in base64, of `<webhook-id>.<webhook-timestamp>.<body>`; two of them, separated by a space, for a day after the secret was rotated.",
};

/** What Herald posts to webhooks, as OpenAPI describes it. */
export function describeWebhooks(schemas: SchemaCollector) {
  return Object.fromEntries(
    posts.map(({ schema, example, summary, description }) => [
      example.type,
      {
        post: {
          operationId: `post${pascalCase(example.type)}`,
          tags: [webhookTag.name],
          summary,
          description,
          security: [],
          parameters: Object.entries(headers).map(([name, meaning]) => ({
            name,
            in: "header",
            required: true,
            description: meaning,
            schema: { type: "string" },
          })),
          requestBody: {
            required: true,
            content: { "application/json": { schema: bodyOf(schemas.add(schema, "output")), example } },
          },
          responses: {
            "2XX": { description: "Taken." },
            "410": { description: "Post nothing more: the webhook is switched off." },
            default: { description: "Not taken: it is posted again later." },
          },
        },
      },
    ]),
  );
}

/**
 * The body of a post, as a rule that generators ignore: of a post whose body has a schema with a name, openapi-generator 7 makes
 * TypeScript that does not compile. The named schema is that of a delivery's `request`, too, from which they make the type.
 */
function bodyOf(payload: JsonSchema): JsonSchema {
  const name = refName(payload.$ref ?? "");
  return {
    type: "object",
    additionalProperties: true,
    description: `A \`${name}\`.`,
    if: { not: { type: "object" } },
    else: payload,
  };
}
