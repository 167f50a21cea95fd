import type { NoticeEvent, WebhookEvent } from "../../contract/webhooks/events.ts";
import type { UnreachedUntil } from "../../contract/webhooks/payloads.ts";
import type { EntityPage, KeyProof } from "../ports.ts";
import { createMapping, json, type Mapped, nullable, number, optional, text } from "../sql/mapping.ts";

/** A signing secret. `endsAt` is `null` for the current one. Times are in milliseconds since the Unix epoch. */
export type WebhookSecret = { secret: string; endsAt: number | null };

/**
 * The tries of a webhook since the last one that succeeded: when the first of them began (`since`) and when the last one began (`at`) and
 * ended, and why it failed.
 */
export type WebhookFailing = { since: number; at: number; endedAt: number; status: number | null; error: string };

/** The columns of webhooks. */
export const storedWebhooks = createMapping({
  org: text("org"),
  id: text("id"),
  /** Unique, even if the id of a deleted webhook is used again. */
  ref: text("ref"),
  url: text("url"),
  events: json<WebhookEvent[]>("events"),
  waitMs: number("wait_ms"),
  until: text<UnreachedUntil>("until"),
  /** Newest first. */
  secrets: json<WebhookSecret[]>("secrets"),
  createdAt: number("created_at"),
  /** When it was switched off because its receiver answered 410. */
  disabledAt: nullable(number("disabled_at")),
  /** `null` while the last try succeeded, or before the first. */
  failing: nullable(json<WebhookFailing>("failing")),
});

/** A webhook of an organization. */
export type StoredWebhook = Mapped<typeof storedWebhooks>;

/** A webhook to store. `ref` and `secret` are used only if the id is new. */
export type NewWebhook = Pick<StoredWebhook, "id" | "ref" | "url" | "events" | "waitMs" | "until"> & {
  secret: string;
  now: number;
  /** How many webhooks the organization may have. */
  most: number;
};

/** The outcome of storing a webhook. */
export type WebhookOutcome =
  | { outcome: "done"; webhook: StoredWebhook; isNew: boolean }
  | { outcome: "missing" | "too_many" };

/** Reads webhooks. */
export type WebhookReads = {
  get(org: string, id: string): Promise<StoredWebhook | undefined>;
  /** By id. */
  list(org: string, page: EntityPage): Promise<StoredWebhook[]>;
  /** Those of these organizations with one of `refs`. */
  among(orgs: readonly string[], refs: readonly string[]): Promise<StoredWebhook[]>;
};

/** Writes webhooks. A change applies to every event that is committed after it. */
export type WebhookWrites = {
  /** Creates or changes a webhook, and switches it on. If it was off, or leads elsewhere now, it counts as failing no more. */
  put(org: string, webhook: NewWebhook, by?: KeyProof): Promise<WebhookOutcome>;
  /** Adds a secret; earlier ones end at `othersEndAt`, and those that have ended are removed. `undefined` if there is no such webhook. */
  rotate(
    org: string,
    id: string,
    change: { secret: string; othersEndAt: number; now: number },
    by?: KeyProof,
  ): Promise<StoredWebhook | undefined>;
  /** Switches the webhook off. False if it is off, or gone. */
  disable(org: string, ref: string, now: number): Promise<boolean>;
  remove(org: string, id: string): Promise<boolean>;
};

/** The progress of an event: the last delivery stored, its number, the number of parts, and the size of the text they fit. */
export type ToldSoFar = { last: string | undefined; part: number; parts: number; bytes: number };

/** The columns of events to report. */
export const dueEvents = createMapping({
  org: text("org"),
  offset: number("offset"),
  webhook: text("webhook"),
  eventId: text("event_id"),
  dueAt: number("due_at"),
  told: optional(json<ToldSoFar>("told")),
});

/** An event to report to a webhook. `told` is set while a node does that in several commits. */
export type DueEvent = Mapped<typeof dueEvents>;

/** An event without its text, as webhooks report it. */
export type ReportedEvent = {
  org: string;
  id: string;
  offset: number;
  kind: "message" | "system";
  cid: string | undefined;
  /** The size of the text; 0 if it was recalled. */
  bytes: number;
  /** Its recipients, as in `addressOf`. */
  address: "users" | "conversation" | "everyone";
  /** An upper bound on their number, roughly; meaningless for everyone. */
  recipients: number;
};

/** The text of an event; empty if it was recalled. */
export type EventText = Pick<ReportedEvent, "org" | "id" | "kind"> & { payload: string };

/**
 * The users who have an event, those of them whose clients were all in the background then (`away`), and those who have acknowledged
 * it.
 */
export type Fates = {
  delivered: ReadonlySet<string>;
  away: ReadonlySet<string>;
  acknowledged: ReadonlySet<string>;
};

/** An event by its id. */
export type EventName = { org: string; id: string };

/** Reads the texts that webhooks post. */
export type EventTextReads = {
  /** The texts of those events that still exist, in conversations that do. */
  texts(named: readonly EventName[]): Promise<EventText[]>;
};

/** Reads what webhooks report about events. */
export type UnreachedReads = {
  /** At most `limit` events that are due by `now`, the longest overdue first. */
  due(now: number, limit: number): Promise<DueEvent[]>;
  /** The same for up to `orgs` organizations with due events, in order of id: a list of at most `each` events for each. */
  dueOfEach(now: number, page: { after: string; orgs: number; each: number }): Promise<DueEvent[][]>;
  /** Those of the events that still exist, in conversations that do. */
  events(named: readonly EventName[]): Promise<ReportedEvent[]>;
  /** The users that system messages list, by event id. */
  lists(named: readonly EventName[]): Promise<Map<string, string[]>>;
  /** Who has these events, by event id. */
  fates(events: readonly ReportedEvent[]): Promise<Map<string, Fates>>;
  /** The participants of these conversations, each with the offset after which they receive messages. */
  participants(
    conversations: readonly { org: string; cid: string }[],
  ): Promise<{ org: string; cid: string; uid: string; after: number }[]>;
  /** Those of the users who exist, each with the offset after which the user was created. */
  users(named: readonly { org: string; uid: string }[]): Promise<{ org: string; uid: string; after: number }[]>;
  /** The next recipients of an event to a conversation or to everyone, in order of uid; fewer than `limit` at the end. */
  recipientsOf(
    event: ReportedEvent,
    page: { after: string; limit: number },
  ): Promise<{ uid: string; isRecipient: boolean }[]>;
};

/** The state of a delivery. `cancelled`: there is nothing left to report. */
export type WebhookDeliveryState = "waiting" | "delivered" | "failed" | "cancelled";

/** One try: when it began, how long it took, and the answer or why there was none. */
export type WebhookTry = {
  at: number;
  durationMs: number;
  status: number | null;
  error: string | null;
  /** The beginning of the body of the answer. */
  answer: string | null;
};

/**
 * What a delivery tells that is not in the log: the type, and the members of `data` after the organization; of a scheduled send, a
 * `FailedSend`.
 */
export type StoredNotice = { type: NoticeEvent; data: object };

/** The columns of deliveries. */
export const webhookDeliveries = createMapping({
  org: text("org"),
  webhook: text("webhook"),
  id: text("id"),
  state: text<WebhookDeliveryState>("state"),
  eventId: nullable(text("event_id")),
  part: number("part"),
  parts: number("parts"),
  unreached: text("unreached"),
  waitedMs: number("waited_ms"),
  createdAt: number("created_at"),
  tries: number("tries"),
  nextTryAt: nullable(number("next_try_at")),
  lastTry: nullable(json<WebhookTry>("last_try")),
  expiresAt: number("expires_at"),
  notice: optional(json<StoredNotice>("notice")),
});

/** A post to a webhook. `unreached` is JSON. Without an `eventId`, it is a notice or a test. */
export type WebhookDelivery = Omit<Mapped<typeof webhookDeliveries>, "notice"> & { notice?: StoredNotice | undefined };

/** A webhook with waiting deliveries. */
export type WebhookQueue = { org: string; webhook: string };

/** Reads deliveries. */
export type WebhookDeliveryReads = {
  /** When the next event and the next try of all nodes are due, and the time on the database's clock. */
  agenda(): Promise<{ now: number; eventAt: number | undefined; tryAt: number | undefined }>;
  /** At most `limit` webhooks with deliveries due by `now`, except those of `busy`, the longest overdue first. */
  queues(now: number, page: { busy: readonly string[]; limit: number }): Promise<WebhookQueue[]>;
  get(org: string, webhook: string, id: string): Promise<WebhookDelivery | undefined>;
  /** Newest first. */
  list(
    org: string,
    webhook: string,
    page: { state: WebhookDeliveryState | undefined; before: string | undefined; limit: number },
  ): Promise<WebhookDelivery[]>;
};

/**
 * A delivery after a try. Only one that is still waiting has a `nextTryAt`. One that has failed may have what other webhooks of the
 * organization are told of that, at `lastTry`.
 */
export type TriedDelivery = Pick<
  WebhookDelivery,
  "org" | "webhook" | "id" | "eventId" | "state" | "tries" | "nextTryAt" | "lastTry" | "expiresAt"
> & { undeliverable?: object | undefined };

/** Writes deliveries. */
export type WebhookDeliveryWrites = {
  /**
   * Removes due events, and stores the deliveries of those it removed in the same commit, so that each delivery is stored once even
   * if several nodes try. Events that have changed since they were read stay. Returns the number of events removed.
   */
  settle(due: readonly DueEvent[], deliveries: readonly (WebhookDelivery & { eventId: string })[]): Promise<number>;
  /**
   * Stores some deliveries of an event and, in the same commit, its progress and when it is due again; without `next`, removes the
   * event. `undefined` if it has changed since it was read, as another node works on it.
   */
  settleParts(
    due: DueEvent,
    next: Pick<DueEvent, "dueAt" | "told"> | undefined,
    deliveries: readonly (WebhookDelivery & { eventId: string })[],
  ): Promise<DueEvent | undefined>;
  /** Claims up to `limit` deliveries that are due by `now`, for this node until `until`. */
  claim(queue: WebhookQueue, claim: { now: number; until: number; limit: number }): Promise<WebhookDelivery[]>;
  /** Stores the results of tries, and which webhooks fail by them. A delivery that has succeeded stays delivered. */
  finish(tried: readonly TriedDelivery[]): Promise<void>;
  /** Stores a delivery that was tried and needs no further try. */
  add(delivery: WebhookDelivery): Promise<void>;
  /** Restarts a delivery from its first try. False if there is none, or if it waits for its first try already. */
  restart(
    place: WebhookQueue & { id: string },
    at: { now: number; expiresAt: number },
    by?: KeyProof,
  ): Promise<boolean>;
  /** Excludes a webhook from `queues` until `at`, or for good if it is gone. */
  postpone(queue: WebhookQueue, at: number | undefined): Promise<void>;
};
