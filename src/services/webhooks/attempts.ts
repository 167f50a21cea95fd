import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { toSeconds } from "../../contract/identifiers.ts";
import { type PostAnswer, postText } from "../../lib/network/post-text.ts";
import type { SteadyClock } from "../../lib/time/clock.ts";
import type { StoredWebhook, WebhookSecret, WebhookTry } from "../../store/webhooks/ports.ts";

type Post = { id: string; body: string; now: number };

/**
 * One post to a webhook, signed at `now`, the time of the database's clock. Never rejects: the error is in the result, with the
 * `Retry-After` of the receiver, if it sent one.
 */
export type Attempt = (
  hook: Pick<StoredWebhook, "url" | "secrets">,
  post: Post,
) => Promise<WebhookTry & { retryAfterMs?: number }>;

const secretBytes = 32;
const timeoutMs = 15_000;
const maxAnswerBytes = 1_024;

/** Creates the posting of webhooks; `allowsPrivate` as in `postText`. */
export function createAttempt({ allowsPrivate, elapsed }: { allowsPrivate: boolean; elapsed: SteadyClock }): Attempt {
  return async ({ url, secrets }, { id, body, now }) => {
    const startedAt = elapsed.now();
    const tried = (rest: Pick<WebhookTry, "status" | "error" | "answer">): WebhookTry => ({
      at: now,
      durationMs: Math.max(0, Math.round(elapsed.now() - startedAt)),
      ...rest,
    });
    try {
      const headers = signedHeaders(secrets, { id, body, now });
      const answer = await postText(new URL(url), { body, headers, allowsPrivate, timeoutMs, maxAnswerBytes });
      const { status, retryAfterMs } = answer;
      const result = tried({ status, error: faultOf(answer), answer: storable(answer.text) });
      return retryAfterMs === undefined ? result : { ...result, retryAfterMs };
    } catch (error) {
      return tried({
        status: null,
        error: storable(error instanceof Error ? error.message : String(error)),
        answer: null,
      });
    }
  };
}

/** Whether the receiver unsubscribed with 410 Gone. */
export function wantsNoMore({ status }: WebhookTry): boolean {
  return status === 410;
}

function faultOf({ status }: PostAnswer): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `the receiver answered ${status}; redirects are not followed`;
  return `the receiver answered ${status}`;
}

/** A receiver may answer anything, but PostgreSQL cannot store U+0000. */
function storable(text: string): string {
  return text.replaceAll("\u0000", "\ufffd").toWellFormed();
}

/** Creates a secret of a webhook: `whsec_` and base64 (Standard Webhooks 1.0). */
export function createWebhookSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString("base64")}`;
}

/** The headers of a post: signed with each secret that has not ended by `now` (milliseconds since the Unix epoch). */
function signedHeaders(secrets: readonly WebhookSecret[], { id, body, now }: Post): Record<string, string> {
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
