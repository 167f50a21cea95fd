import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { toSeconds } from "../../contract/identifiers.ts";
import type { WebhookSecret } from "../../store/webhooks/ports.ts";

const secretBytes = 32;

/** Creates a secret of a webhook: `whsec_` and base64 (Standard Webhooks 1.0). */
export function createWebhookSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString("base64")}`;
}

/** The headers of a post: signed with each secret that has not ended by `now` (milliseconds since the Unix epoch). */
export function signedHeaders(
  secrets: readonly WebhookSecret[],
  { id, body, now }: { id: string; body: string; now: number },
): Record<string, string> {
  const current = secrets.filter(({ endsAt }) => endsAt === null || endsAt > now);
  const signatures = current.map(({ secret }) => new Webhook(secret).sign(id, new Date(now), body));
  return {
    "Content-Type": "application/json",
    "User-Agent": "Herald",
    "webhook-id": id,
    "webhook-timestamp": String(toSeconds(now)),
    "webhook-signature": signatures.join(" "),
  };
}
