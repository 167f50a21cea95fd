import type { LineProblem } from "./admin/lines.ts";
import { HeraldArgumentError } from "./errors.ts";
import type { Message, SystemMessage } from "./types.ts";

/** A recipient who has not got the event: not connected, or connected without a client that has acknowledged it. */
export type Unreached = {
  /** The user. */
  uid: string;
  /** `offline`: no connection of the user got it. `unacknowledged`: one did, and has not acknowledged it. */
  reason: "offline" | "unacknowledged";
};

/**
 * Who has not got an event `waited_seconds` after it was sent. Many users come in several parts, numbered from 1.
 * `truncated` says that a long body was cut.
 */
export type UnreachedData = {
  /** The organization. */
  organizationId: string;

  /** Who was not reached: of several parts, the users of this one. */
  unreached: Unreached[];

  /** How long Herald waited. */
  waited_seconds: number;

  /** The number of this part, from 1. */
  part: number;

  /** The number of parts. */
  parts: number;

  /** Present if the body of the message is cut. */
  truncated?: true;
};

/** What a participant has read. */
export type MessageReadData = {
  /** The organization. */
  organizationId: string;
  /** What was read: messages of others, at most 100, oldest first, and everything before them in the conversation. */
  message_read: {
    /** The `_id`s of the messages. */
    ids: string[];
    /** The conversation. */
    cid: string;
    /** Who has read them. */
    from: string;
    /** When, in Unix epoch seconds. */
    t: number;
  };
};

/** A scheduled send that was refused when it was due. */
export type ScheduledFailedData = {
  /** The organization. */
  organizationId: string;
  /** The scheduled send. */
  scheduled: {
    /** Its id. */
    id: string;
    /** When it was to be sent, in ISO 8601. */
    send_at: string;
    /** Why it was refused (RFC 9457). */
    problem: LineProblem;
  };
};

/** A send that was proposed, and waits for a decision. */
export type ProposalWaitingData = {
  /** The organization. */
  organizationId: string;
  /** The proposal. */
  proposal: {
    /** Its id, to read and decide it. */
    id: string;
    /** The user as whom it would be sent. */
    senderId: string;
    /** The conversation that it would go to; `null` for a system message to users or to everyone. */
    cid: string | null;
    /** The key that proposed it, by id. */
    proposed_by: string;
    /** Until when it can be decided, in ISO 8601. */
    expires_at: string;
  };
};

/** A delivery to another webhook of the organization that has failed for good. */
export type UndeliverableData = {
  /** The organization. */
  organizationId: string;
  /** The delivery. */
  undeliverable: {
    /** The id of the webhook. */
    webhook: string;
    /** The id of the delivery, to redeliver it. */
    delivery: string;
    /** What it told about. */
    type: string;
    /** The `_id` of the message or system message, or the id of the scheduled send or the proposal; `null` for anything else. */
    id: string | null;
    /** How often it was tried. */
    tries: number;
    /** The status of the last answer; `null` if there was none. */
    status: number | null;
    /** Why the last try failed. */
    error: string;
  };
};

/**
 * Who has come and who has gone. Posts may arrive in another order: whoever applies all of them by `seq`, beginning with nobody at 1,
 * has the users that are online.
 */
export type PresenceData = {
  /** The organization. */
  organizationId: string;
  /** The users who have a connection now, and had none. */
  online: string[];
  /** The users who have had no connection for the `wait_seconds` of the webhook. */
  offline: string[];
  /** The number of this post, per webhook and without holes. */
  seq: number;
};

/** What a test says (`testWebhook`): nothing but which webhook is tested. */
export type WebhookTestData = {
  /** The organization. */
  organizationId: string;
  /** The id of the webhook. */
  webhook: string;
};

/** The body of a webhook. `timestamp` is ISO 8601. Later versions may send further types: pass over those that you do not know. */
export type WebhookPayload = {
  /** When it was found out, in ISO 8601. */
  timestamp: string;
} & (
  | {
      /** What it tells about. */
      type: "message.unreached";
      /** What it tells. */
      data: UnreachedData & {
        /** The message, as its recipients see it. */
        message: Message;
      };
    }
  | {
      /** What it tells about. */
      type: "system_message.unreached";
      /** What it tells. */
      data: UnreachedData & {
        /** The system message, as its recipients see it. */
        system_message: SystemMessage;
      };
    }
  | {
      /** What it tells about. */
      type: "message.read";
      /** What it tells. */
      data: MessageReadData;
    }
  | {
      /** What it tells about. */
      type: "scheduled.failed";
      /** What it tells. */
      data: ScheduledFailedData;
    }
  | {
      /** What it tells about. */
      type: "proposal.waiting";
      /** What it tells. */
      data: ProposalWaitingData;
    }
  | {
      /** What it tells about. */
      type: "message.undeliverable";
      /** What it tells. */
      data: UndeliverableData;
    }
  | {
      /** What it tells about. */
      type: "users.presence";
      /** What it tells. */
      data: PresenceData;
    }
  | {
      /** What it tells about. */
      type: "webhook.test";
      /** What it tells. */
      data: WebhookTestData;
    }
);

/**
 * A webhook: its body, and its `id` from the header `webhook-id`, which is the same for each retry. Remember the id, and pass over
 * one that you have had.
 */
export type Webhook = {
  /** The `webhook-id`, which is the same for each retry. */
  id: string;
} & WebhookPayload;

/** A request as it came in. */
export type WebhookRequest = {
  /** `request.headers` of Fetch, or of Node. */
  headers: Headers | { [name: string]: string | string[] | undefined };
  /** The bytes of the body, or their text. Not JSON that was parsed and written again, whose signature differs. */
  body: string | Uint8Array | ArrayBuffer;
  /** The secret of the webhook (`whsec_…`), or several while they are rotated. */
  secret: string | readonly string[];
  /** How far the time of the request may be from now, in seconds (default 300). */
  toleranceSeconds?: number | undefined;
  /** Now, in milliseconds since the Unix epoch (default: the clock). */
  nowMs?: number | undefined;
};

/** Why a webhook is refused. */
export type WebhookRefusal = "missing_header" | "bad_timestamp" | "bad_signature" | "bad_payload";

/** A request is not a webhook of the one who has the secret, or is too old. Answer it with 401, and do nothing else. */
export class HeraldWebhookError extends Error {
  /** The name of the class. */
  override readonly name = "HeraldWebhookError";

  /** Why it is refused, for programs. */
  readonly code: WebhookRefusal;

  constructor(code: WebhookRefusal, message: string) {
    super(message);
    this.code = code;
  }
}

const prefix = "whsec_";
const defaultToleranceSeconds = 300;

/**
 * Verifies a webhook (Standard Webhooks 1.0) and resolves with it. Rejects with `HeraldWebhookError` unless one of the secrets has
 * signed these bytes within the tolerance, and with `HeraldArgumentError` for a secret that cannot be one.
 */
export async function verifyWebhook({
  headers,
  body,
  secret,
  toleranceSeconds = defaultToleranceSeconds,
  nowMs = Date.now(),
}: WebhookRequest): Promise<Webhook> {
  const keys = await Promise.all([secret].flat().map(importSecret));
  if (keys.length === 0) throw new HeraldArgumentError("Pass the secret of the webhook, which begins with whsec_.");
  const id = readHeader(headers, "webhook-id");
  const timestamp = readHeader(headers, "webhook-timestamp");
  const given = readSignatures(readHeader(headers, "webhook-signature"));
  const bytes = toBytes(body);
  const signed = concat(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const expected = await Promise.all(keys.map((key) => crypto.subtle.sign("HMAC", key, signed)));
  if (!isAnyEqual(expected, given))
    throw new HeraldWebhookError(
      "bad_signature",
      "No signature of the webhook fits: check the secret, and pass the body exactly as it was received.",
    );
  checkTimestamp(timestamp, { toleranceSeconds, nowMs });
  return { id, ...readPayload(bytes) };
}

/** The key of a secret: `whsec_` and 24 to 64 bytes in base64, of which we ask only that there are some. */
async function importSecret(secret: string): Promise<CryptoKey> {
  const text = String(secret).trim();
  const bytes = decodeBase64(text.startsWith(prefix) ? text.slice(prefix.length) : text);
  if (bytes === undefined || bytes.length === 0)
    throw new HeraldArgumentError("The secret of a webhook is whsec_ and base64, as it was shown when it was created.");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

function readHeader(headers: WebhookRequest["headers"], name: string): string {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  if (typeof value === "string" && value !== "") return value;
  throw new HeraldWebhookError("missing_header", `The request has no header ${name}, so it is not a webhook.`);
}

/** Also the `Headers` of another implementation of Fetch. */
function isHeaders(headers: WebhookRequest["headers"]): headers is Headers {
  return typeof headers.get === "function";
}

/** The signatures of version 1; others, such as the asymmetric `v1a`, are passed over. */
function readSignatures(header: string): Uint8Array[] {
  return header
    .split(" ")
    .filter((signature) => signature.startsWith("v1,"))
    .map((signature) => decodeBase64(signature.slice("v1,".length)))
    .filter((signature) => signature !== undefined);
}

/** Whether any expected signature is among the given ones. Takes as long wherever they differ. */
function isAnyEqual(expected: ArrayBuffer[], given: Uint8Array[]): boolean {
  let isFound = false;
  for (const one of expected) for (const other of given) isFound = isEqual(new Uint8Array(one), other) || isFound;
  return isFound;
}

function isEqual(expected: Uint8Array, given: Uint8Array): boolean {
  let difference = expected.length ^ given.length;
  for (const [index, byte] of expected.entries()) difference |= byte ^ (given[index] ?? 0);
  return difference === 0;
}

function checkTimestamp(text: string, { toleranceSeconds, nowMs }: { toleranceSeconds: number; nowMs: number }): void {
  const ageSeconds = /^\d{1,12}$/.test(text) ? nowMs / 1000 - Number(text) : Number.NaN;
  if (Math.abs(ageSeconds) <= toleranceSeconds) return;
  const how = Number.isNaN(ageSeconds)
    ? "is not in Unix seconds"
    : `is ${Math.round(Math.abs(ageSeconds))} s ${ageSeconds > 0 ? "old" : "ahead"}: check this machine's clock`;
  throw new HeraldWebhookError("bad_timestamp", `The time of the webhook ${how}.`);
}

function readPayload(bytes: Uint8Array): WebhookPayload {
  let payload: unknown;
  try {
    payload = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    payload = undefined;
  }
  if (isPayload(payload)) return payload;
  throw new HeraldWebhookError("bad_payload", "The webhook is signed, but its body is not one of Herald's.");
}

function isPayload(value: unknown): value is WebhookPayload {
  if (typeof value !== "object" || value === null) return false;
  const { type, timestamp, data }: { type?: unknown; timestamp?: unknown; data?: unknown } = value;
  return typeof type === "string" && typeof timestamp === "string" && typeof data === "object" && data !== null;
}

function toBytes(body: string | Uint8Array | ArrayBuffer): Uint8Array {
  if (typeof body === "string") return new TextEncoder().encode(body);
  return body instanceof Uint8Array ? body : new Uint8Array(body);
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

/** The bytes of base64, or `undefined` if it is none. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
