import { z } from "zod";
import { pageOf, pageQuery } from "../directory.ts";
import { isoTime } from "../identifiers.ts";
import { unreachedEvents, webhookEvents } from "./events.ts";
import { unreachedUntils, webhookPayload } from "./payloads.ts";

const deliveryStates = ["waiting", "delivered", "failed", "cancelled"] as const;
const mostUrlCharacters = 2_048;
const mostWaitSeconds = 86_400;
const defaultWaitSeconds = 10;

const event = z.enum(webhookEvents).meta({ id: "WebhookEvent" });
const until = z.enum(unreachedUntils).meta({ id: "UnreachedUntil" });
const deliveryState = z.enum(deliveryStates).meta({ id: "WebhookDeliveryState" });
const url = z.string().max(mostUrlCharacters);
const waitSeconds = z.int().min(1).max(mostWaitSeconds);

/** The body of a `PUT` of a webhook. What is omitted has its default, also where the webhook exists. */
export const putWebhookRequest = z
  .strictObject({
    url: url.meta({
      description:
        "Where to post: `https`, without user and password. Private, loopback and link-local addresses are refused, now and at each try, unless `HERALD_WEBHOOK_ALLOW_PRIVATE` is 1, which also allows `http`.",
    }),
    events: z
      .array(event)
      .min(1)
      .max(webhookEvents.length)
      .default([...unreachedEvents])
      .meta({
        description:
          "What to post. Omit it for who was not reached, by messages and by system messages; anything else is posted only if it is named. Nothing is posted about silent sends that did not reach somebody.",
      }),
    wait_seconds: waitSeconds.default(defaultWaitSeconds).meta({
      description:
        "How long after the send Herald looks who was not reached. Of `users.presence`, how long a user must be gone. What is about neither is posted at once.",
    }),
    until: until.default("delivered").meta({
      description:
        "When a user counts as reached: `delivered`, a connection of the user got it; `acknowledged`, a client of the user has acknowledged it, too.",
    }),
  })
  .meta({ id: "PutWebhookRequest" });

/** The body of a `PUT` of a webhook, with defaults filled in. */
export type PutWebhookRequest = z.output<typeof putWebhookRequest>;

/** A webhook, as the admin API shows it. */
export const webhook = z
  .strictObject({
    id: z.string().meta({ description: "The id, chosen by the caller." }),
    url: url.meta({ description: "Where Herald posts." }),
    events: z.array(event).meta({ description: "What Herald posts." }),
    wait_seconds: waitSeconds.meta({ description: "How long after the send Herald looks who was not reached." }),
    until: until.meta({ description: "When a user counts as reached." }),
    state: z.enum(["active", "disabled"]).meta({
      id: "WebhookState",
      description: "`disabled`: its receiver answered 410, so nothing is posted until the next `PUT`.",
    }),
    created_at: isoTime.meta({ description: "When it was created." }),
    disabled_at: isoTime.nullable().meta({ description: "When it was switched off, or `null`." }),
    failing: z
      .strictObject({
        since: isoTime.meta({ description: "When the first of them began." }),
        at: isoTime.meta({ description: "When the last of them began." }),
        status: z.int().nullable().meta({ description: "The HTTP status of the last answer, or `null` if none came." }),
        error: z.string().meta({ description: "Why the last of them failed." }),
      })
      .nullable()
      .meta({
        description:
          "The tries that have failed, tests among them, since one succeeded, over all nodes; `null` if the last try succeeded, or there was none. A changed URL begins anew.",
      }),
  })
  .meta({ id: "Webhook", description: "Where to post who was not reached, and what else a webhook asks for." });

/** A webhook, as the admin API shows it. */
export type WebhookShown = z.infer<typeof webhook>;

/** A webhook with a new secret, which is shown only once. */
export const webhookWithSecret = webhook
  .extend({
    secret: z.string().meta({ description: "The secret that signs (Standard Webhooks): shown only this once." }),
  })
  .meta({ id: "WebhookWithSecret" });

/** A webhook with a new secret. */
export type WebhookWithSecret = z.infer<typeof webhookWithSecret>;

/** What either response to the `PUT` of a webhook fits. */
export const putWebhookOutcome = webhookWithSecret
  .partial({ secret: true })
  .meta({ id: "PutWebhookOutcome", description: "A webhook, with its secret if it is new." });

/** A page of webhooks. */
export const webhookPage = pageOf(webhook).meta({ id: "WebhookPage" });

/** A delivery, as the admin API shows it. */
export const webhookDelivery = z
  .strictObject({
    id: z.string().meta({ description: "The id of the delivery, which is the header `webhook-id` of each try." }),
    state: deliveryState.meta({
      description:
        "`waiting`: it is tried now, or at `next_try_at`. `delivered`: the receiver answered 2xx. `failed`: no try succeeded. `cancelled`: what it tells about was taken back or removed.",
    }),
    created_at: isoTime.meta({ description: "When it was created." }),
    tries: z.int().min(0).meta({ description: "How often it was tried." }),
    next_try_at: isoTime.nullable().meta({ description: "When it will be tried next, or `null`." }),
    last_try: z
      .strictObject({
        at: isoTime.meta({ description: "When it began." }),
        duration_ms: z.int().min(0).meta({ description: "How long it took, in milliseconds." }),
        status: z.int().nullable().meta({ description: "The HTTP status of the answer, or `null` if none came." }),
        error: z.string().nullable().meta({ description: "Why it failed, or `null`." }),
        answer: z.string().nullable().meta({ description: "The beginning of the answer's body, or `null`." }),
      })
      .nullable()
      .meta({ description: "The last try, or `null`." }),
    request: webhookPayload.nullable().meta({
      description: "What is posted. `null` if what it tells about was taken back or removed.",
    }),
  })
  .meta({ id: "WebhookDelivery", description: "What was posted to a webhook, or will be." });

/** A delivery, as the admin API shows it. */
export type WebhookDeliveryShown = z.infer<typeof webhookDelivery>;

/** A page of deliveries. */
export const webhookDeliveryPage = pageOf(webhookDelivery).meta({ id: "WebhookDeliveryPage" });

/** The query of the list of deliveries. */
export const webhookDeliveryQuery = pageQuery.extend({
  state: deliveryState.optional().meta({ description: "Only those in this state." }),
});
