import { Webhook } from "standardwebhooks";

/** A webhook as a receiver gets it, and the secret with which it was signed. */
export function signedWebhook(): { headers: Record<string, string>; body: string; secret: string } {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const now = new Date();
  const id = "msg_1";
  const body = JSON.stringify({ type: "webhook.test", timestamp: now.toISOString(), data: {} });
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign(id, now, body),
  };
  return { headers, body, secret };
}
